// The echo service (RFC 862): a client gets back exactly the bytes that it sends.

// Serves one connection. While the socket is writing a reply that does not fit, it reads nothing.
export function echo(socket) {
  socket.on('data', (bytes) => {
    if (!socket.write(bytes)) {
      socket.pause();
    }
  });
  socket.on('drain', () => socket.resume());
  socket.on('end', () => socket.end()); // after the replies
  socket.on('error', () => {}); // the client is gone, and Node closes the socket
}
