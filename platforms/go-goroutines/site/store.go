package site

import "sync/atomic"

// store keeps the files of a site in memory. Each is computed when it is first requested.
type store struct {
	content *content
	files   []atomic.Pointer[[]byte]
}

func newStore(seed uint64, directories int) *store {
	return &store{newContent(seed), make([]atomic.Pointer[[]byte], directories*filesPerDirectory)}
}

// has returns whether the site has a file.
func (s *store) has(file fileID) bool {
	return file.index() < len(s.files)
}

// file returns the bytes of a file that the site has. They must not be changed.
func (s *store) file(file fileID) []byte {
	slot := &s.files[file.index()]
	stored := slot.Load()
	if stored == nil {
		// Two goroutines may compute the same file; both use the first result.
		bytes := s.content.file(file)
		slot.CompareAndSwap(nil, &bytes)
		stored = slot.Load()
	}
	return *stored
}
