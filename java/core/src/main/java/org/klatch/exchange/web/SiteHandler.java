package org.klatch.exchange.web;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.util.Arrays;
import org.klatch.service.ConnectionHandler;
import org.klatch.service.Outbox;

/**
 * One connection to a {@link Site}, in HTTP/1.0 and HTTP/1.1. It finds the requests in the received
 * bytes, and replies in their order.
 */
final class SiteHandler implements ConnectionHandler {
  /** Longest request: a partial one is shorter. */
  private static final int REQUEST_BYTES_MAX = RequestHead.BYTES_MAX + Request.BODY_BYTES_MAX;

  /** First size of a buffer that grows, for callers that have buffers of their own. */
  private static final int BUFFER_BYTES_MIN = 512;

  private final Site site;
  private final Outbox outbox;
  private final String from;
  private byte[] buffer;
  private int filled;
  private int wanted; // the request in the buffer has more bytes than these; 0 if unknown
  private long served; // requests
  private boolean ended;

  SiteHandler(Site site, Outbox outbox, String from, int bufferBytes) {
    this.site = site;
    this.outbox = outbox;
    this.from = from;
    buffer =
        new byte[bufferBytes == 0 ? BUFFER_BYTES_MIN : Math.max(bufferBytes, REQUEST_BYTES_MAX)];
  }

  @Override
  public byte[] buffer() {
    return buffer;
  }

  @Override
  public int fillAt() {
    return filled;
  }

  @Override
  public boolean feed(int count, Runnable onHandled) {
    if (ended) {
      return false;
    }
    int before = filled;
    filled += count;
    if (mayBeComplete(before)) {
      serveAll(onHandled);
    }
    if (filled == buffer.length) {
      buffer = Arrays.copyOf(buffer, Math.min(2 * buffer.length, REQUEST_BYTES_MAX));
    }
    return !ended;
  }

  /** Whether to parse: otherwise a head that arrives byte by byte would be parsed for each. */
  private boolean mayBeComplete(int before) {
    if (wanted > 0) {
      return filled >= wanted;
    }
    boolean endsLine = false;
    for (int i = before; i < filled && !endsLine; i++) {
      endsLine = buffer[i] == '\n';
    }
    return endsLine || before == 0 || filled > RequestHead.BYTES_MAX;
  }

  /** Serves the requests in the buffer, and moves the rest to its beginning. */
  private void serveAll(Runnable onHandled) {
    int at = 0;
    try {
      int bytes;
      while (!ended && at < filled && (bytes = serveFirst(at)) > 0) {
        at += bytes;
        if (!ended) {
          onHandled.run();
        }
      }
    } catch (RefusalException refusal) {
      send(Reply.refuse(refusal.status()), true, false);
      end("Refused");
    }
    filled -= at;
    System.arraycopy(buffer, at, buffer, 0, filled);
  }

  /** Serves the request at an index of the buffer; returns its length, or 0 if it is incomplete. */
  private int serveFirst(int at) throws RefusalException {
    wanted = 0;
    RequestHead head = HeadParser.parse(buffer, at, filled);
    if (head == null) {
      return 0;
    }
    int bytes = head.bytes() + head.bodyBytes();
    if (at + bytes > filled) {
      wanted = bytes;
      return 0;
    }
    served++;
    String body = new String(buffer, at + head.bytes(), head.bodyBytes(), ISO_8859_1);
    Reply reply =
        site.reply(
            new Request(head.method(), head.path(), head.query(), head.cookie(), body, from));
    send(reply, !head.method().equals("HEAD"), head.keepAlive());
    if (!head.keepAlive()) {
      end("Last request");
    }
    return bytes;
  }

  /**
   * Sends a reply.
   *
   * @param withBody false for the reply to HEAD, which is the head of another one
   */
  private void send(Reply reply, boolean withBody, boolean keepAlive) {
    if (!withBody) {
      outbox.send(ReplyEncoder.head(reply, keepAlive).getBytes(ISO_8859_1));
      return;
    }
    outbox.send(ReplyEncoder.encode(reply, keepAlive));
    if (ReplyEncoder.isBodyAlone(reply)) {
      outbox.send(reply.body());
    }
  }

  /** A line may connect long before it sends its first request, so it is never half-open. */
  @Override
  public boolean registered() {
    return true;
  }

  @Override
  public long incompleteRequest() {
    return filled > 0 && !ended ? served + 1 : 0;
  }

  /** Refuses the request of which a part was received. */
  @Override
  public void expire(String reason) {
    if (incompleteRequest() != 0) {
      send(Reply.refuse(Status.REQUEST_TIMEOUT), true, false);
    }
    end(reason);
  }

  @Override
  public void end(String reason) {
    if (!ended) {
      ended = true;
      outbox.close();
    }
  }
}
