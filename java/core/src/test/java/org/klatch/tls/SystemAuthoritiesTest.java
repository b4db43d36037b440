package org.klatch.tls;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.klatch.chat.Vectors;

class SystemAuthoritiesTest {
  @Test
  void theyAreInThePlacesOfTheVectors() {
    var vectors = Vectors.json("authorities.json");
    assertEquals(vectors.get("variable").asText(), SystemAuthorities.VARIABLE);
    List<String> files =
        StreamSupport.stream(vectors.get("files").spliterator(), false)
            .map(file -> file.asText())
            .toList();
    assertEquals(files, SystemAuthorities.FILES);
  }

  @Test
  void theFileOfTheVariableComesFirstAndThenThatOfTheDistribution() {
    for (String file : SystemAuthorities.FILES) {
      assertEquals(Path.of(file), SystemAuthorities.file("", file::equals));
    }
    assertEquals(Path.of("/my/ca.pem"), SystemAuthorities.file("/my/ca.pem", file -> true));
    String first = SystemAuthorities.FILES.get(0);
    assertEquals(Path.of(first), SystemAuthorities.file(null, file -> false));
  }
}
