package org.klatch;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** The floors of the house: imports run down only. */
class ArchitectureTest {
  private final JavaClasses all =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("org.klatch");

  @Test
  void importsRunDownOnly() {
    layeredArchitecture()
        .consideringOnlyDependenciesInLayers()
        .layer("cli")
        .definedBy("org.klatch.cli")
        .layer("server")
        .definedBy("org.klatch.server")
        .layer("crowd")
        .definedBy("org.klatch.crowd")
        .layer("chat")
        .definedBy("org.klatch.chat")
        .whereLayer("cli")
        .mayNotBeAccessedByAnyLayer()
        .whereLayer("server")
        .mayOnlyBeAccessedByLayers("cli")
        .whereLayer("crowd")
        .mayOnlyBeAccessedByLayers("cli")
        .check(all);
  }

  @Test
  void theChatDoesNoInputOrOutput() {
    noClasses()
        .that()
        .resideInAPackage("org.klatch.chat")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("java.net..", "java.io..", "java.nio.channels..", "java.nio.file..")
        .check(all);
  }

  @Test
  void nothingButTheJdkIsUsed() {
    classes()
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage("java..", "org.klatch..")
        .check(all);
  }
}
