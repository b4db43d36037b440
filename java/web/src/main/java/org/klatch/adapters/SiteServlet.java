package org.klatch.adapters;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.klatch.exchange.web.Reply;
import org.klatch.exchange.web.Request;
import org.klatch.exchange.web.Responder;

/** Passes requests to a responder. A reply that blocks occupies a thread of the server. */
public final class SiteServlet extends HttpServlet {
  private static final long serialVersionUID = 1;

  private final transient Responder responder;

  /** Serves what this responder replies. */
  public SiteServlet(Responder responder) {
    this.responder = responder;
  }

  @Override
  protected void service(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    boolean hasBody = request.getMethod().equals("POST");
    byte[] body =
        hasBody ? request.getInputStream().readNBytes(Request.BODY_BYTES_MAX + 1) : new byte[0];
    Reply reply =
        responder.reply(
            new Request(
                request.getMethod(),
                request.getRequestURI(),
                request.getQueryString(),
                request.getHeader("Cookie"),
                new String(body, ISO_8859_1),
                request.getRemoteAddr()));
    response.setStatus(reply.status().code());
    reply.forEachHeader(response::setHeader);
    response.getOutputStream().write(reply.body());
  }
}
