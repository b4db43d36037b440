package org.klatch.exchange.web;

import org.klatch.service.ConnectionHandler;
import org.klatch.service.Outbox;
import org.klatch.service.Service;

/** A {@link Site} as a service of the I/O models. */
public final class SiteService implements Service {
  private final Site site;

  /** Serves a site that other services may share. */
  public SiteService(Site site) {
    this.site = site;
  }

  @Override
  public ConnectionHandler open(String host, Outbox outbox, int bufferBytes) {
    return new SiteHandler(site, outbox, host, bufferBytes);
  }

  @Override
  public boolean repliesOnly() {
    return true;
  }

  /** Returns no bytes: within a reply, a client would take them for the rest of it. */
  @Override
  public byte[] closingLine(String reason) {
    return new byte[0];
  }
}
