package org.klatch.tls;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** The authorities of the system, as OpenSSL and the native crowd find them. */
public final class SystemAuthorities {
  /** Their file in each distribution. */
  static final List<String> FILES =
      List.of(
          "/etc/ssl/certs/ca-certificates.crt",
          "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
          "/etc/ssl/ca-bundle.pem",
          "/etc/ssl/cert.pem",
          "/etc/pki/tls/certs/ca-bundle.crt",
          "/usr/local/share/certs/ca-root-nss.crt");

  private SystemAuthorities() {}

  /**
   * Returns the files with their certificates, in PEM.
   *
   * @throws IOException if a folder cannot be read, or there are none; the message is for users
   */
  public static List<Path> files() throws IOException {
    return files(
        System.getenv("SSL_CERT_FILE"),
        System.getenv("SSL_CERT_DIR"),
        file -> Files.isRegularFile(Path.of(file)));
  }

  /**
   * Returns the file and those in the folders of the variables, else the first of a distribution
   * that is there, else the first of the list, which the error then names.
   */
  static List<Path> files(String file, String folders, Predicate<String> isThere)
      throws IOException {
    if (!isSet(file) && !isSet(folders)) {
      return List.of(Path.of(FILES.stream().filter(isThere).findFirst().orElse(FILES.get(0))));
    }
    var found = new ArrayList<Path>();
    if (isSet(file)) {
      found.add(Path.of(file));
    }
    for (String folder : isSet(folders) ? folders.split(":", -1) : new String[0]) {
      if (!folder.isEmpty()) {
        found.addAll(hashedIn(Path.of(folder)));
      }
    }
    if (found.isEmpty()) {
      throw new IOException("there are no certificates of authorities in SSL_CERT_DIR, " + folders);
    }
    return found;
  }

  private static boolean isSet(String variable) {
    return variable != null && !variable.isEmpty();
  }

  /**
   * The files of a folder with names that {@code openssl rehash} gives; other files may be keys.
   */
  private static List<Path> hashedIn(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .filter(file -> file.getFileName().toString().matches("[0-9a-f]{8}\\.[0-9]+"))
          .sorted()
          .toList();
    } catch (IOException e) {
      throw new IOException(
          "cannot read certificates from the folder " + folder + " of SSL_CERT_DIR", e);
    }
  }
}
