package main

import "sync"

// queue holds the lines that wait for one connection, bounded by bytes.
type queue struct {
	mu       sync.Mutex
	changed  sync.Cond
	lines    [][]byte
	taken    int // so many lines at the front are taken
	bytes    int
	bytesMax int
	state    state
}

type state int

const (
	taking     state = iota
	overflowed       // more came than may wait; nothing more is taken
	closed           // nothing more is taken; what waits is still to be written
	broken           // nothing is taken or written any more
)

func newQueue(bytesMax int) *queue {
	q := &queue{bytesMax: bytesMax}
	q.changed.L = &q.mu
	return q
}

// put adds a line. It returns false the one time that there is no room for it.
func (q *queue) put(line []byte) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.state != taking {
		return true
	}
	if q.bytes+len(line) > q.bytesMax {
		q.state = overflowed
		return false
	}
	if len(q.lines) == cap(q.lines) && q.taken > len(q.lines)/2 {
		left := copy(q.lines, q.lines[q.taken:])
		q.lines, q.taken = q.lines[:left], 0
	}
	q.lines = append(q.lines, line)
	q.bytes += len(line)
	if len(q.lines) == q.taken+1 {
		q.changed.Signal()
	}
	return true
}

// next waits for a line and takes it. It returns false when the queue is closed and empty.
func (q *queue) next() ([]byte, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.taken == len(q.lines) {
		q.lines, q.taken = q.lines[:0], 0
		if q.state == closed || q.state == broken {
			return nil, false
		}
		q.changed.Wait()
	}
	line := q.lines[q.taken]
	q.lines[q.taken] = nil // for the garbage collector
	q.taken++
	q.bytes -= len(line)
	return line, true
}

// close lets the writer end when it has written what waits.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.state != broken {
		q.state = closed
	}
	q.changed.Signal()
}

// closeWith forgets what waits; last is the only line that is still written.
func (q *queue) closeWith(last []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.state != broken {
		q.state = closed
		q.lines, q.taken, q.bytes = [][]byte{last}, 0, len(last)
	}
	q.changed.Signal()
}

// fail forgets what waits, because the connection takes nothing any more.
func (q *queue) fail() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.state, q.lines, q.taken, q.bytes = broken, nil, 0, 0
	q.changed.Signal()
}

func (q *queue) is(state state) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.state == state
}
