package org.klatch.tls;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SystemAuthoritiesTest {
  @Test
  void withoutVariablesTheyAreInTheFirstFileOfADistribution() throws IOException {
    for (String file : SystemAuthorities.FILES) {
      assertEquals(List.of(Path.of(file)), SystemAuthorities.files("", null, file::equals));
    }
    Path first = Path.of(SystemAuthorities.FILES.get(0));
    assertEquals(List.of(first), SystemAuthorities.files(null, "", file -> false));
  }

  @Test
  void variablesNameAFileAndFoldersWithHashedNames(@TempDir Path folder) throws IOException {
    for (String name : List.of("0a1b2c3d.0", "0a1b2c3d.1", "root.pem", "root.key")) {
      Files.createFile(folder.resolve(name));
    }
    Files.createDirectory(folder.resolve("empty"));
    Path own = Path.of("/my/ca.pem");
    assertEquals(List.of(own), SystemAuthorities.files("/my/ca.pem", null, file -> true));
    List<Path> hashed = List.of(folder.resolve("0a1b2c3d.0"), folder.resolve("0a1b2c3d.1"));
    assertEquals(hashed, SystemAuthorities.files(null, folder.toString(), file -> true));
    List<Path> both = List.of(own, hashed.get(0), hashed.get(1));
    assertEquals(both, SystemAuthorities.files("/my/ca.pem", folder.toString(), file -> true));
    for (String wrong : List.of("none", "empty")) {
      Path without = folder.resolve(wrong);
      assertThrows(
          IOException.class,
          () -> SystemAuthorities.files(null, without.toString(), file -> true),
          "those of the system are not what was asked for");
    }
  }
}
