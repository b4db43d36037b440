package chat

import "sync"

// room exists from its first member to its last. Its fields change with both the server's lock and its own held, so
// either lock is enough to read them.
type room struct {
	name string // spelled as by its first member

	mu      sync.Mutex
	members []*Session // in the order of joining
	topic   string     // empty if not set
}

// deliverToOthers sends a line to all members but one. The lock gives a room one order of messages.
func (r *room) deliverToOthers(speaker *Session, line []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.deliver(speaker, line)
}

// deliver sends a line to all members but except. The caller holds the room's lock.
func (r *room) deliver(except *Session, line []byte) {
	for _, member := range r.members {
		if member != except {
			member.client.Send(line)
		}
	}
}

// add adds a member and delivers line to all members, the new one included.
func (r *room) add(session *Session, line []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.members = append(r.members, session)
	r.deliver(nil, line)
}

// setTopic sets the topic and delivers line to all members.
func (r *room) setTopic(topic string, line []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.topic = topic
	r.deliver(nil, line)
}

// remove removes a member, if present.
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
