/* An echo server on epoll: each request costs WORK rounds of a hash. */
#include "work.h"
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static volatile uint64_t sink;

static void work(const char *bytes, ssize_t count) {
  uint64_t hash = 14695981039346656037u;
  for (long round = 0; round < WORK; round++)
    hash = (hash ^ (uint8_t)bytes[round % count]) * 1099511628211u;
  sink = hash;
}

int main(int count, char **words) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  char *colon = count == 2 ? strrchr(words[1], ':') : NULL;
  if (!colon) return fprintf(stderr, "usage: echo HOST:PORT\n"), 2;
  address.sin_port = htons((uint16_t)atoi(colon + 1));
  int on = 1, listener = socket(AF_INET, SOCK_STREAM, 0), poll = epoll_create1(0);
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 512)) return perror("bind"), 1;
  struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, events[64];
  epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);
  for (;;) {
    int ready = epoll_wait(poll, events, 64, -1);
    for (int at = 0; at < ready; at++) {
      int from = events[at].data.fd;
      if (from == listener) {
        event.data.fd = accept(listener, NULL, NULL);
        setsockopt(event.data.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        epoll_ctl(poll, EPOLL_CTL_ADD, event.data.fd, &event);
        continue;
      }
      char bytes[4096];
      ssize_t got = read(from, bytes, sizeof bytes);
      if (got <= 0) {
        close(from);
        continue;
      }
      work(bytes, got);
      if (write(from, bytes, (size_t)got) != got) return perror("write"), 1;
    }
  }
}
