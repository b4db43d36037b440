package org.klatch.tls;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManagerFactory;

/** Reads PEM files, and fixes what this project uses of TLS. */
public final class TlsContexts {
  /** The version of TLS. */
  public static final String PROTOCOL = "TLSv1.3";

  /** The cipher suite. */
  public static final String CIPHER = "TLS_AES_128_GCM_SHA256";

  private static final char[] NO_PASSWORD = {};
  private static final List<String> KEY_TYPES = List.of("EC", "RSA", "EdDSA");
  private static final Pattern KEY =
      Pattern.compile("-----BEGIN PRIVATE KEY-----([^-]+)-----END PRIVATE KEY-----");

  private TlsContexts() {}

  /**
   * Creates the context of a server.
   *
   * @param certificate a PEM file with the chain, the server's own certificate first
   * @param key a PEM file with the private key in PKCS #8
   * @throws IOException if a file cannot be used; the message is for users
   */
  public static SSLContext server(Path certificate, Path key) throws IOException {
    try {
      KeyStore store = emptyStore();
      Certificate[] chain = certificates(certificate).toArray(new Certificate[0]);
      store.setKeyEntry("server", privateKey(key), NO_PASSWORD, chain);
      var keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      keys.init(store, NO_PASSWORD);
      SSLContext context = SSLContext.getInstance(PROTOCOL);
      context.init(keys.getKeyManagers(), null, null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new IOException(
          "cannot use certificate " + certificate + " with key " + key + ": " + e.getMessage(), e);
    }
  }

  /** Creates the context of a client that trusts the authorities in one PEM file. */
  public static SSLContext client(Path authorities) throws IOException {
    return client(List.of(authorities));
  }

  /**
   * Creates the context of a client.
   *
   * @param authorities PEM files with the authorities that it trusts
   * @throws IOException if a file cannot be used; the message is for users
   */
  public static SSLContext client(List<Path> authorities) throws IOException {
    try {
      KeyStore store = emptyStore();
      for (Path file : authorities) {
        for (Certificate authority : certificates(file)) {
          store.setCertificateEntry("authority " + store.size(), authority);
        }
      }
      var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(store);
      SSLContext context = SSLContext.getInstance(PROTOCOL);
      context.init(null, trust.getTrustManagers(), null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new IOException(
          "cannot use the certificates of " + authorities + ": " + e.getMessage(), e);
    }
  }

  /** Restricts a connection to TLS 1.3 with one cipher suite. */
  public static SSLParameters parameters() {
    return new SSLParameters(new String[] {CIPHER}, new String[] {PROTOCOL});
  }

  private static byte[] read(Path file) throws IOException {
    try {
      return Files.readAllBytes(file);
    } catch (NoSuchFileException e) {
      throw new IOException("there is no file " + file, e);
    } catch (AccessDeniedException e) {
      throw new IOException("no permission to read " + file, e);
    }
  }

  private static KeyStore emptyStore() throws GeneralSecurityException, IOException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    return store;
  }

  private static Collection<? extends Certificate> certificates(Path file)
      throws IOException, GeneralSecurityException {
    var in = new ByteArrayInputStream(read(file));
    var all = CertificateFactory.getInstance("X.509").generateCertificates(in);
    if (all.isEmpty()) {
      throw new IOException(file + " contains no certificate in PEM");
    }
    return all;
  }

  private static PrivateKey privateKey(Path file) throws IOException, GeneralSecurityException {
    Matcher pem = KEY.matcher(new String(read(file), ISO_8859_1));
    if (!pem.find()) {
      throw new IOException(file + " contains no \"BEGIN PRIVATE KEY\" (PKCS #8 in PEM)");
    }
    var encoded = new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(pem.group(1)));
    for (String type : KEY_TYPES) {
      try {
        return KeyFactory.getInstance(type).generatePrivate(encoded);
      } catch (InvalidKeySpecException e) {
        // a key of another type
      }
    }
    throw new IOException(file + " contains a key that is none of " + String.join(", ", KEY_TYPES));
  }
}
