package org.klatch.crowd;

import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertPathValidatorException.BasicReason;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import javax.net.ssl.SSLException;

/** Explains for users why a client refuses a server's TLS. */
final class TlsErrors {
  private TlsErrors() {}

  /** Returns the reason of a handshake that failed. */
  static String explain(SSLException failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof CertificateExpiredException) {
        return "the server's certificate has expired";
      }
      if (cause instanceof CertPathBuilderException || isWrongSignature(cause)) {
        return "no authority that the crowd trusts (--ca) has signed the server's certificate";
      }
      if (cause instanceof CertificateException && isAboutName(cause.getMessage())) {
        return "the server's certificate is for another name";
      }
    }
    String message = String.valueOf(failure.getMessage());
    return message.startsWith("Unsupported or unrecognized SSL message")
        ? "the server does not answer in TLS, so it speaks none at this port"
        : message;
  }

  /** Whether an authority of the same name has another key. */
  private static boolean isWrongSignature(Throwable cause) {
    return cause instanceof CertPathValidatorException invalid
        && invalid.getReason() == BasicReason.INVALID_SIGNATURE;
  }

  /** Whether the JDK refused a name or an address; it has no exception of its own for that. */
  private static boolean isAboutName(String message) {
    return message != null
        && (message.startsWith("No subject alternative") || message.startsWith("No name matching"));
  }
}
