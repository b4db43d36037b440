package org.klatch;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The dependencies of the Java packages: see "Java packages" in ARCHITECTURE.md. */
class ArchitectureTest {
  private final JavaClasses all =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("org.klatch");

  @Test
  void packageGraphIsThatOfTheArchitectureDocument() throws IOException {
    PackageGraph documented =
        PackageGraph.parse(Files.readString(Path.of("..", "..", "ARCHITECTURE.md")));
    PackageGraph sources =
        PackageGraph.read(
            Stream.of("core", "helidon", "netty", "shop", "web")
                .map(module -> Path.of("..", module, "src", "main", "java"))
                .toList());
    assertEquals(documented.dependencies(), sources.dependencies());
    assertEquals(List.of(), documented.upward());
  }

  @Test
  void upwardAndMutualDependenciesAreDetected() {
    String document = "```java-packages\n1 low: high\n1b high: low peer\n1b peer: low\n```";
    assertEquals(List.of("high -> peer", "low -> high"), PackageGraph.parse(document).upward());
  }

  @Test
  void servicesUseNoInputOrOutput() {
    noClasses()
        .that()
        .resideInAnyPackage(
            "org.klatch.service",
            "org.klatch.chat",
            "org.klatch.exchange..",
            "org.klatch.websocket")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("java.net..", "java.io..", "java.nio.channels..", "java.nio.file..")
        .check(all);
  }

  @Test
  void onlyTheJdkIsUsed() {
    classes()
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage("java..", "javax.net.ssl..", "org.klatch..")
        .check(all);
  }
}
