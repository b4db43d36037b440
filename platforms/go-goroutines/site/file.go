package site

import "fmt"

const (
	classes           = 4
	filesPerClass     = 9
	filesPerDirectory = classes * filesPerClass
	// DirectoriesMax is the number of directories that the five digits of a path can name.
	DirectoriesMax = 100_000
	// fileBytesMax is the size of the largest file.
	fileBytesMax = 921_600
	// pathTemplate is a path with 0 for each digit.
	pathTemplate = "/file_set/dir00000/class0_0"
)

// fileID names a file; its parts are in range.
type fileID struct {
	directory, class, number int
}

// newFileID returns false if a part is out of range.
func newFileID(directory, class, number int) (fileID, bool) {
	ok := directory >= 0 && directory < DirectoriesMax && class >= 0 && class < classes &&
		number >= 0 && number < filesPerClass
	return fileID{directory, class, number}, ok
}

// fileAt returns the file at a position: directories, classes and files ascend, and the last changes fastest.
func fileAt(index int) fileID {
	inDirectory := index % filesPerDirectory
	return fileID{index / filesPerDirectory, inDirectory / filesPerClass, inDirectory % filesPerClass}
}

// index is the inverse of fileAt.
func (f fileID) index() int {
	return f.directory*filesPerDirectory + f.class*filesPerClass + f.number
}

// parsePath parses a path of exactly the form of pathTemplate.
func parsePath(path string) (fileID, bool) {
	if len(path) != len(pathTemplate) {
		return fileID{}, false
	}
	for i := range pathTemplate {
		isDigit := pathTemplate[i] == '0' && path[i] >= '0' && path[i] <= '9'
		if path[i] != pathTemplate[i] && !isDigit {
			return fileID{}, false
		}
	}
	directory := 0
	for _, digit := range path[13:18] {
		directory = directory*10 + int(digit-'0')
	}
	return newFileID(directory, int(path[24]-'0'), int(path[26]-'0'))
}

// path returns the path in a URL.
func (f fileID) path() string {
	return fmt.Sprintf("/file_set/dir%05d/class%d_%d", f.directory, f.class, f.number)
}

// sizeBytes is 102.4 × 10^class × (number + 1), rounded down.
func (f fileID) sizeBytes() int {
	size := (f.number + 1) * 1024
	for class := 0; class < f.class; class++ {
		size *= 10
	}
	return size / 10
}
