package org.klatch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The dependencies between the packages below {@code org.klatch}.
 *
 * @param floors floor by package, such as 1 or 1b, which is above 1; empty for a graph of sources
 * @param dependencies direct dependencies by package
 */
record PackageGraph(
    Map<String, String> floors, NavigableMap<String, NavigableSet<String>> dependencies) {
  private static final Pattern BLOCK =
      Pattern.compile("```java-packages\n(.*?)```", Pattern.DOTALL);
  private static final Pattern LINE = Pattern.compile("(\\d[a-z]?) ([\\w.]+):((?: [\\w.]+)*)");
  private static final Pattern PACKAGE = Pattern.compile("^package org\\.klatch\\.([\\w.]+);");
  private static final Pattern USE =
      Pattern.compile("\\borg\\.klatch\\.([a-z]+(?:\\.[a-z]+)*)\\.[A-Z*]");

  /** Parses the block {@code java-packages} of a document. */
  static PackageGraph parse(String document) {
    Matcher block = BLOCK.matcher(document);
    if (!block.find()) {
      throw new IllegalArgumentException("the document has no block java-packages");
    }
    PackageGraph graph = new PackageGraph(new TreeMap<>(), new TreeMap<>());
    for (String line : block.group(1).split("\n", -1)) {
      Matcher parts = LINE.matcher(line);
      if (parts.matches()) {
        graph.floors.put(parts.group(2), parts.group(1));
        NavigableSet<String> dependencies = graph.dependenciesOf(parts.group(2));
        Stream.of(parts.group(3).split(" ", -1))
            .filter(name -> !name.isEmpty())
            .forEach(dependencies::add);
      } else if (!line.isEmpty()) {
        throw new IllegalArgumentException("not \"FLOOR PACKAGE: DEPENDENCIES\": " + line);
      }
    }
    return graph;
  }

  /** Reads the imports and qualified names of all Java files below some folders. */
  static PackageGraph read(List<Path> folders) throws IOException {
    PackageGraph graph = new PackageGraph(new TreeMap<>(), new TreeMap<>());
    for (Path folder : folders) {
      try (Stream<Path> files = Files.walk(folder)) {
        for (Path file : files.filter(path -> path.toString().endsWith(".java")).toList()) {
          graph.add(Files.readString(file));
        }
      }
    }
    return graph;
  }

  /** Lists the dependencies on a package that is not on a lower floor. */
  List<String> upward() {
    return dependencies.entrySet().stream()
        .flatMap(entry -> entry.getValue().stream().map(to -> entry.getKey() + " -> " + to))
        .filter(edge -> isUpward(edge.split(" -> ", -1)))
        .toList();
  }

  private boolean isUpward(String[] edge) {
    return floor(edge[1]).compareTo(floor(edge[0])) >= 0;
  }

  /** Returns the floor; one above all for a package that the document does not list. */
  private String floor(String name) {
    return floors.getOrDefault(name, "none");
  }

  private void add(String source) {
    Matcher own = PACKAGE.matcher(source);
    String name = own.find() ? own.group(1) : "";
    if (source.startsWith("/**")) {
      return; // package-info.java has no dependencies
    }
    NavigableSet<String> uses = dependenciesOf(name);
    USE.matcher(source).results().map(use -> use.group(1)).forEach(uses::add);
    uses.remove(name);
  }

  private NavigableSet<String> dependenciesOf(String name) {
    return dependencies.computeIfAbsent(name, key -> new TreeSet<>());
  }
}
