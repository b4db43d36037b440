package chat

import "sync"

// room begins with its first member and ends with its last. What is in it changes with both the hall's lock and its
// own held, so that either is enough to read.
type room struct {
	name string // as its first member wrote it

	mu      sync.Mutex
	members []*Session // in the order of joining
	topic   string     // empty: there is none
}

// tellOthers is the fan-out: one line to all members but one. The lock gives a room one order of messages.
func (r *room) tellOthers(speaker *Session, line []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tell(speaker, line)
}

// tell is for who holds the room's lock.
func (r *room) tell(except *Session, line []byte) {
	for _, member := range r.members {
		if member != except {
			member.client.Send(line)
		}
	}
}

// add takes a new member in and tells all, also the new one.
func (r *room) add(session *Session, line []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.members = append(r.members, session)
	r.tell(nil, line)
}

// setTopic tells it to all.
func (r *room) setTopic(topic string, line []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.topic = topic
	r.tell(nil, line)
}

// remove takes a member out.
func (r *room) remove(session *Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, member := range r.members {
		if member == session {
			copy(r.members[i:], r.members[i+1:])
			r.members[len(r.members)-1] = nil // for the garbage collector
			r.members = r.members[:len(r.members)-1]
			return
		}
	}
}
