package org.klatch.crowd;

/**
 * What TLS agreed to on a connection.
 *
 * @param version version of the protocol, such as {@code TLSv1.3}
 * @param cipher cipher suite as IANA names it, such as {@code TLS_AES_128_GCM_SHA256}
 */
public record TlsSession(String version, String cipher) {}
