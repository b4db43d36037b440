package main

import "sync"

// queue is the send queue of one connection, bounded in bytes.
type queue struct {
	mu       sync.Mutex
	changed  sync.Cond
	lines    [][]byte
	taken    int // number of lines at the front that next has returned
	bytes    int
	bytesMax int
	state    queueState
}

type queueState int

const (
	open       queueState = iota
	overflowed            // bytesMax was exceeded; further lines are ignored
	closed                // further lines are ignored; the queued ones are still written
	broken                // a write failed; lines are neither queued nor written
)

func newQueue(bytesMax int) *queue {
	q := &queue{bytesMax: bytesMax}
	q.changed.L = &q.mu
	return q
}

// put adds a line. It returns false when this line overflows the queue, and true for lines after that.
func (q *queue) put(line []byte) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.state != open {
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

// next waits for a line and removes it. It returns false when the queue is closed and empty.
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

// close makes next return false after the queued lines.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.state != broken {
		q.state = closed
	}
	q.changed.Signal()
}

// closeWith closes the queue and replaces the queued lines by last.
func (q *queue) closeWith(last []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.state != broken {
		q.state = closed
		q.lines, q.taken, q.bytes = [][]byte{last}, 0, len(last)
	}
	q.changed.Signal()
}

// fail drops the queued lines after a failed write.
func (q *queue) fail() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.state, q.lines, q.taken, q.bytes = broken, nil, 0, 0
	q.changed.Signal()
}

func (q *queue) is(state queueState) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.state == state
}
