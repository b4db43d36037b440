// The echo service (RFC 862): a client gets back exactly the bytes that it sends.

// Returns the handler of new connections. While a socket is writing a reply that does not fit, it reads nothing; one that takes
// no byte of it within the time limit is closed.
export function echo({ registrationTimeoutMs }) {
  return (socket) => {
    let timer;
    let unsent;
    const check = () => {
      if (socket.bytesWritten - socket.writableLength === unsent) {
        socket.destroy();
      } else {
        wait();
      }
    };
    const wait = () => {
      unsent = socket.bytesWritten - socket.writableLength;
      timer = setTimeout(check, registrationTimeoutMs);
    };
    socket.on('data', (bytes) => {
      if (!socket.write(bytes)) {
        socket.pause();
        wait();
      }
    });
    socket.on('drain', () => {
      clearTimeout(timer);
      socket.resume();
    });
    socket.on('end', () => socket.end()); // after the replies
    socket.on('error', () => {}); // the client is gone, and Node closes the socket
    socket.on('close', () => clearTimeout(timer));
  };
}
