package main

import "net"

// echoBufferBytes is the most that one read takes, and one write sends back.
const echoBufferBytes = 16 << 10

// echo serves one client with RFC 862: one goroutine sends back what it reads. While a write blocks, nothing is read.
func echo(conn net.Conn) {
	defer conn.Close()
	buffer := make([]byte, echoBufferBytes)
	for {
		count, err := conn.Read(buffer)
		if err != nil {
			return // the client has closed its output, or the connection is broken
		}
		if _, err := conn.Write(buffer[:count]); err != nil {
			return
		}
	}
}
