// Package chat is the chat core: bytes to IRC messages, and the state of rooms and sessions. It does no input or
// output and knows no clock.
package chat

import (
	"sort"
	"sync"
)

// Client is the other end of a session.
type Client interface {
	// Send takes one line, CR LF included, that nobody changes afterwards. It never blocks and never calls back into
	// the hall: a client that cannot take the line remembers that, and ends its session later.
	Send(line []byte)
	// Registered hears, before the welcome is sent, that the session has registered.
	Registered()
}

// Identity is what a server says about itself.
type Identity struct {
	// Name has a dot in it, as clients expect.
	Name string
	// Version of the program, one word.
	Version string
	// Created is when the server was started, for people to read.
	Created string
	// Network is one word.
	Network string
	// MOTD is the message of the day, line by line; if it is empty there is none.
	MOTD []string
}

// Hall holds all rooms and users of one server. Talking in a room takes no lock but the room's; everything else
// changes and is looked up under mu, which is taken before a room's lock.
type Hall struct {
	identity Identity

	mu         sync.Mutex
	holders    map[string]*Session // by folded nick, also those that are not registered yet
	rooms      map[string]*room    // by folded name
	registered int
}

// NewHall makes an empty hall.
func NewHall(identity Identity) *Hall {
	return &Hall{identity: identity, holders: map[string]*Session{}, rooms: map[string]*room{}}
}

// Enter lets a connection from host in.
func (h *Hall) Enter(host string, client Client) *Session {
	if host[0] == ':' {
		host = "0" + host // ::1 would look like a last parameter
	}
	return &Session{hall: h, host: host, client: client, open: true}
}

// user is the registered session with that nick, in any spelling, or nil.
func (h *Hall) user(nick string) *Session {
	if holder := h.holders[Fold(nick)]; holder != nil && holder.registered {
		return holder
	}
	return nil
}

// room is the room with that name, in any spelling, or nil.
func (h *Hall) room(name string) *room {
	return h.rooms[Fold(name)]
}

// leave takes a session out of a room, which ends with its last member.
func (h *Hall) leave(room *room, session *Session) {
	room.remove(session)
	if len(room.members) == 0 {
		delete(h.rooms, Fold(room.name))
	}
}

func (h *Hall) allRooms() []*room {
	rooms := make([]*room, 0, len(h.rooms))
	for _, room := range h.rooms {
		rooms = append(rooms, room)
	}
	sortRooms(rooms)
	return rooms
}

// sortRooms sorts by folded names.
func sortRooms(rooms []*room) {
	sort.Slice(rooms, func(i, j int) bool { return Fold(rooms[i].name) < Fold(rooms[j].name) })
}
