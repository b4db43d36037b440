package site

import (
	"fmt"
	"sync"
)

// postRecordBytes is the size of a record in the post log, its LF included.
const postRecordBytes = 139

// postsMax is the most records of a log. A client that sends POSTs for ever is refused.
const postsMax = 1_000_000

// postLog is the log of all POSTs since the last Reset.
type postLog struct {
	mu      sync.Mutex
	records []byte
}

// append appends a record, unless the log is full. The numbers of processes are always 0.
func (l *postLog) append(timeS int64, form postForm, user int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.records) >= postsMax*postRecordBytes {
		return false
	}
	file := form.file
	l.records = fmt.Appendf(l.records, "%10d %10d %10d %5d %2d %2d %10d %-60s %10d %10d\n",
		len(l.records)/postRecordBytes+1, timeS, 0, file.directory, file.class, file.number, form.client, file.path(), 0,
		firstUser+user)
	return true
}

// text returns the whole log: a line with the number of records, and the records.
func (l *postLog) text() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := make([]byte, 0, 11+len(l.records))
	text = fmt.Appendf(text, "%10d\n", len(l.records)/postRecordBytes)
	return append(text, l.records...)
}

func (l *postLog) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.records = l.records[:0]
}
