package org.klatch.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;

/** A self-signed certificate for 127.0.0.1 and its key, as PEM files in a temporary folder. */
public final class TestCertificate {
  private static final String PASSWORD = "changeit";

  /** The certificate, which is its own authority. */
  public final Path certificate;

  /** The private key. */
  public final Path key;

  /** Makes a certificate with the JDK's keytool. */
  public TestCertificate() throws Exception {
    Path folder = Files.createTempDirectory("klatch-certificate");
    Path store = folder.resolve("store.p12");
    String keytool = Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
    String options =
        "-genkeypair -alias a -keyalg EC -groupname secp256r1 -dname CN=klatch -validity 2"
            + " -ext san=ip:127.0.0.1 -storetype PKCS12 -storepass changeit -keystore ";
    String[] command = (keytool + " " + options + store).split(" ", -1);
    assertEquals(
        0, new ProcessBuilder(command).redirectErrorStream(true).start().waitFor(), "keytool");
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(store)) {
      keys.load(in, PASSWORD.toCharArray());
    }
    certificate = folder.resolve("certificate.pem");
    write(certificate, "CERTIFICATE", keys.getCertificate("a").getEncoded());
    key = folder.resolve("key.pem");
    write(key, "PRIVATE KEY", keys.getKey("a", PASSWORD.toCharArray()).getEncoded());
  }

  private static void write(Path file, String type, byte[] bytes) throws Exception {
    String body = Base64.getMimeEncoder().encodeToString(bytes);
    Files.writeString(
        file, "-----BEGIN " + type + "-----\n" + body + "\n-----END " + type + "-----\n");
  }
}
