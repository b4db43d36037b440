package org.klatch.chat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reads the test vectors that all implementations share; see vectors/README.md. */
public final class Vectors {
  private Vectors() {}

  static Path path(String name) {
    return Path.of("..", "..", "vectors", name);
  }

  /** Parses the file {@code name} of the folder {@code vectors}. */
  public static JsonNode json(String name) {
    try {
      return new ObjectMapper().readTree(Files.readString(path(name)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The hash FNV-1a with 64 bits, by which vectors describe long contents. */
  public static String fnv1a(byte[] bytes) {
    long hash = 0xcbf29ce484222325L;
    for (byte b : bytes) {
      hash = (hash ^ (b & 0xff)) * 0x100000001b3L;
    }
    return String.format("%016x", hash);
  }

  /** Encodes a string in UTF-8, with the escapes {@code \r \n \0 \\ \xNN} replaced. */
  static byte[] unescape(String text) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (int i = 0; i < text.length(); ) {
      char c = text.charAt(i);
      if (c != '\\') {
        int next = text.offsetByCodePoints(i, 1);
        bytes.writeBytes(utf8(text.substring(i, next)));
        i = next;
        continue;
      }
      char kind = text.charAt(i + 1);
      i += kind == 'x' ? 4 : 2;
      bytes.write(
          switch (kind) {
            case 'r' -> '\r';
            case 'n' -> '\n';
            case '0' -> 0;
            case '\\' -> '\\';
            case 'x' -> Integer.parseInt(text.substring(i - 2, i), 16);
            default -> throw new IllegalArgumentException("unknown escape in " + text);
          });
    }
    return bytes.toByteArray();
  }

  static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** Decodes ISO 8859-1, as the chat code does with names and lines. */
  static String latin(byte[] bytes) {
    return new String(bytes, StandardCharsets.ISO_8859_1);
  }
}
