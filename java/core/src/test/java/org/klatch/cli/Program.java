package org.klatch.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The whole program in a child process. */
final class Program implements AutoCloseable {
  private final Process process;
  private final BufferedReader out;
  private final Path err;

  Program(String... arguments) throws IOException {
    err = Files.createTempFile("klatch-test", ".err");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-cp", Path.of("target", "classes").toString(), "org.klatch.cli.Main"));
    command.addAll(List.of(arguments));
    process = new ProcessBuilder(command).redirectError(err.toFile()).start();
    out = new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8));
  }

  /** Reads the next line of its standard output; null at the end. */
  String next() throws IOException {
    return out.readLine();
  }

  /** Reads its standard output up to the next line that contains {@code part}; null at the end. */
  String skipTo(String part) throws IOException {
    String line;
    do {
      line = next();
    } while (line != null && !line.contains(part));
    return line;
  }

  List<String> rest() throws IOException {
    List<String> rest = new ArrayList<>();
    String line;
    while ((line = next()) != null) {
      rest.add(line);
    }
    return rest;
  }

  void send(String line) throws IOException {
    process.getOutputStream().write((line + "\n").getBytes(UTF_8));
    process.getOutputStream().flush();
  }

  void endOfInput() throws IOException {
    process.getOutputStream().close();
  }

  /** Sends SIGTERM to the process and leaves its streams open. */
  void terminate() {
    process.toHandle().destroy(); // process.destroy() would also close its streams
  }

  int exitStatus() throws InterruptedException {
    return process.waitFor();
  }

  List<String> errors() throws IOException {
    return Files.readAllLines(err);
  }

  @Override
  public void close() throws IOException {
    process.destroyForcibly();
    Files.delete(err);
  }
}
