/* A server with one place: it answers one request at a time, and spins for a given number of nanoseconds meanwhile. A request that waited
   is served from the end of the one before it, so that the time for taking requests and writing replies is not added to the service
   while the server is busy. With Poisson arrivals it is an M/D/1 queue. With `idle` it gives way to every other program at once, so that a crowd
   on the same CPU sends when it is due; time goes on meanwhile, so its service stays as long. Usage: service HOST:PORT NANOSECONDS [idle] */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000 + time.tv_nsec;
}

int main(int count, char **words) {
  char *colon = count == 3 || (count == 4 && !strcmp(words[3], "idle")) ? strrchr(words[1], ':') : NULL;
  if (!colon) {
    fputs("usage: service HOST:PORT NANOSECONDS [idle]\n", stderr);
    return 2;
  }
  if (count == 4 && sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){0})) {
    perror("service");
    return 1;
  }
  *colon = 0;
  int64_t service = atoll(words[2]);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(colon + 1))};
  int on = 1, listener = socket(AF_INET, SOCK_STREAM, 0), all = epoll_create1(0);
  inet_pton(AF_INET, words[1], &address.sin_addr);
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 1024)) {
    perror("service");
    return 1;
  }
  struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
  epoll_ctl(all, EPOLL_CTL_ADD, listener, &event);
  char bytes[1 << 16];
  int64_t end = now();
  /* One at a time: the connection that has been ready longest. */
  for (;;) {
    int64_t begin = end;
    if (epoll_wait(all, &event, 1, 0) == 0) {
      if (epoll_wait(all, &event, 1, -1) < 0)
        return 1;
      begin = now();
    }
    int one = event.data.fd;
    if (one == listener) {
      one = accept(listener, NULL, NULL);
      setsockopt(one, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      event.data.fd = one;
      epoll_ctl(all, EPOLL_CTL_ADD, one, &event);
      end = now();
      continue;
    }
    ssize_t size = read(one, bytes, sizeof bytes);
    if (size <= 0) {
      close(one);
      end = now();
      continue;
    }
    end = begin + service;
    while (now() < end)
      ;
    if (write(one, bytes, size) != size)
      close(one);
  }
}
