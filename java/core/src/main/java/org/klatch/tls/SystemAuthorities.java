package org.klatch.tls;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;

/** The authorities of the system, which every crowd trusts, whatever language it is written in. */
public final class SystemAuthorities {
  /** The variable that names their file, as for OpenSSL. */
  static final String VARIABLE = "SSL_CERT_FILE";

  /** Their file in each distribution; {@code vectors/authorities.json} has the same. */
  static final List<String> FILES =
      List.of(
          "/etc/ssl/certs/ca-certificates.crt",
          "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
          "/etc/ssl/ca-bundle.pem",
          "/etc/ssl/cert.pem",
          "/etc/pki/tls/certs/ca-bundle.crt",
          "/usr/local/share/certs/ca-root-nss.crt");

  private SystemAuthorities() {}

  /** Returns their file. */
  public static Path file() {
    return file(System.getenv(VARIABLE), file -> Files.isRegularFile(Path.of(file)));
  }

  /**
   * Returns the file of the variable, else the first that is there, else the first of the list,
   * which the error then names.
   */
  static Path file(String variable, Predicate<String> isThere) {
    if (variable != null && !variable.isEmpty()) {
      return Path.of(variable);
    }
    return Path.of(FILES.stream().filter(isThere).findFirst().orElse(FILES.get(0)));
  }
}
