// Package chat is the chat core: it parses IRC messages and holds the state of rooms and sessions. It performs no I/O
// and reads no clock.
package chat

import (
	"sort"
	"strings"
	"sync"
	"time"
)

// Client is the connection of a session.
type Client interface {
	// Send queues one line, CR LF included, and must not change it. It must not block or call back into the session.
	// If its queue is full, the client records that and ends the session later.
	Send(line []byte)
	// IsOpen returns whether later lines are taken. It must not block.
	IsOpen() bool
	// Registered is called when the session has registered, before the welcome is sent.
	Registered()
}

// Identity has the names and texts with which a server introduces itself.
type Identity struct {
	// Name is the host name; it contains a dot, as clients expect.
	Name string
	// Version is that of the program, one word.
	Version string
	// Created is the date of the server's start, as text.
	Created string
	// Network is the network's name, one word.
	Network string
	// MOTD has the lines of the message of the day; it may be empty.
	MOTD []string
}

// KlatchIdentity is the identity of Klatch's servers of a version, started at a time.
func KlatchIdentity(version string, started time.Time) Identity {
	return Identity{
		Name:    "klatch.localhost",
		Version: "klatch-" + version,
		Created: started.UTC().Format("2006-01-02"),
		Network: "Klatch",
		MOTD:    []string{"Come in and talk."},
	}
}

// ServerState holds the rooms and users of one server. A message to a room takes only the room's lock. Everything else
// is read and changed under mu, which is locked before a room's lock.
type ServerState struct {
	identity Identity

	mu         sync.Mutex
	holders    map[string]*Session // by folded nick; includes sessions that have not registered
	rooms      map[string]*room    // by folded name
	registered int
}

// NewServerState creates a server without rooms and users.
func NewServerState(identity Identity) *ServerState {
	return &ServerState{identity: identity, holders: map[string]*Session{}, rooms: map[string]*room{}}
}

// OpenSession creates the session of a connection from host.
func (s *ServerState) OpenSession(host string, client Client) *Session {
	if strings.HasPrefix(host, ":") {
		host = "0" + host // ::1 would parse as a last parameter
	}
	return &Session{server: s, host: host, client: client, open: true}
}

// user returns the registered session with this nick, compared case-insensitively, or nil.
func (s *ServerState) user(nick string) *Session {
	if holder := s.holders[Fold(nick)]; holder != nil && holder.registered {
		return holder
	}
	return nil
}

// room returns the room with this name, compared case-insensitively, or nil.
func (s *ServerState) room(name string) *room {
	return s.rooms[Fold(name)]
}

// leave removes a session from a room, and the room with its last member.
func (s *ServerState) leave(room *room, session *Session) {
	room.remove(session)
	if len(room.members) == 0 {
		delete(s.rooms, Fold(room.name))
	}
}

func (s *ServerState) allRooms() []*room {
	rooms := make([]*room, 0, len(s.rooms))
	for _, room := range s.rooms {
		rooms = append(rooms, room)
	}
	sortRooms(rooms)
	return rooms
}

// sortRooms sorts by folded names.
func sortRooms(rooms []*room) {
	sort.Slice(rooms, func(i, j int) bool { return Fold(rooms[i].name) < Fold(rooms[j].name) })
}
