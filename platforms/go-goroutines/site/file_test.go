package site

import "testing"

func TestADirectoryHasThePublishedSize(t *testing.T) {
	total := 0
	for index := 0; index < filesPerDirectory; index++ {
		total += fileAt(index).sizeBytes()
	}
	if total != 5_119_484 {
		t.Errorf("%d bytes", total)
	}
	if last := (fileID{0, 3, 8}); last.sizeBytes() != fileBytesMax {
		t.Errorf("%d bytes", last.sizeBytes())
	}
}

func TestPathsParseBack(t *testing.T) {
	last := fileID{DirectoriesMax - 1, classes - 1, filesPerClass - 1}
	for index := 0; index <= last.index(); index += 7 {
		file := fileAt(index)
		if parsed, ok := parsePath(file.path()); !ok || parsed != file || file.index() != index {
			t.Fatalf("%s: %v, %v, at %d", file.path(), parsed, ok, file.index())
		}
	}
}

// Another byte at any place makes another file or none.
func TestAlteredPathsNameAnotherFileOrNone(t *testing.T) {
	file := fileID{12_345, 2, 3}
	for at := range file.path() {
		for value := 0; value < 256; value++ {
			path := []byte(file.path())
			same := path[at] == byte(value)
			path[at] = byte(value)
			parsed, ok := parsePath(string(path))
			if (ok && parsed == file) != same || (ok && parsed.path() != string(path)) {
				t.Errorf("%q: %v, %v", path, parsed, ok)
			}
		}
	}
}
