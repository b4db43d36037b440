package site

import (
	"encoding/binary"
	"fmt"
)

const (
	// blockBytes is the size of the block of text, a power of two.
	blockBytes = 1 << 20
	alphabet   = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 ."
	// ads is the number of ads in Custom.Ads.
	ads = 360
	// tagBytes is the length of a tag.
	tagBytes = 62
	// tagOffsetMin is the least number of bytes before a tag in its section, so it is after the identity line.
	tagOffsetMin = 64
)

// content computes the bytes of the files for one seed.
type content struct {
	filesSeed uint64
	// text is the block, followed by as much of its beginning as the largest file has: every file is one slice of it.
	text []byte
}

func newContent(seed uint64) *content {
	textSeed := partSeed(seed, partText)
	text := make([]byte, 0, blockBytes+fileBytesMax)
	for word := uint64(0); len(text) < blockBytes; word++ {
		text = binary.LittleEndian.AppendUint64(text, output(textSeed, word))
	}
	for i, letter := range text {
		text[i] = alphabet[letter&63]
		if i%64 == 63 {
			text[i] = '\n'
		}
	}
	text = append(text, text[:fileBytesMax]...)
	return &content{filesSeed: partSeed(seed, partFiles), text: text}
}

// file computes a file as it is stored.
func (c *content) file(file fileID) []byte {
	hash := c.hash(file)
	start := hash % blockBytes
	bytes := make([]byte, file.sizeBytes())
	copy(bytes, c.text[start:])
	copy(bytes, fmt.Sprintf("%s %016x\n", file.path(), hash))
	c.rotate(bytes, file, scale(uint32(hash>>32), ads))
	return bytes
}

// rotate makes every tag in a file name an ad.
func (c *content) rotate(bytes []byte, file fileID, ad int) {
	tag := `<!WEB99CAD><IMG SRC="` + fileAt(ad).path() + `"><!/WEB99CAD>`
	hash, step := c.hash(file), tagStepBytes(file.class)
	for number := 0; number*step < len(bytes) && step > 0; number++ {
		copy(bytes[tagOffset(hash, step, number):], tag)
	}
}

func (c *content) hash(file fileID) uint64 {
	return output(c.filesSeed, uint64(file.directory)<<16|uint64(file.class)<<8|uint64(file.number))
}

// tagOffset returns the place of tag number in the file with this hash.
func tagOffset(hash uint64, step, number int) int {
	room := step - tagOffsetMin - tagBytes
	return number*step + tagOffsetMin + scale(uint32(output(hash, uint64(number))>>32), room)
}

// tagStepBytes is the size of the sections of a file, each of which has a tag; 0 if files of the class have none.
func tagStepBytes(class int) int {
	switch class {
	case 1:
		return 1024
	case 2:
		return 10 * 1024
	}
	return 0
}
