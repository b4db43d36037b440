/* An echo server, on epoll or with THREADS, one a connection. Each request costs WORK rounds of a hash, and what else is planted: CALL,
   TEXT, YIELD, BUFFER (a number of bytes), or with THREADS LOCKED: the hash is computed while a lock of all threads is held. */
#ifdef __has_include
#if __has_include("work.h")
#include "work.h"
#endif
#endif
#ifndef WORK
#define WORK 500
#endif
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static const int on = 1;
static volatile uint64_t sum;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t hash(const char *bytes, ssize_t count) {
  uint64_t hash = 14695981039346656037u;
  for (long round = 0; round < WORK; round++)
    hash = (hash ^ (uint8_t)bytes[round % count]) * 1099511628211u;
  return hash;
}

static void work(int from, const char *bytes, ssize_t count) {
#ifdef LOCKED
  pthread_mutex_lock(&lock);
  sum += hash(bytes, count);
#else
  uint64_t result = hash(bytes, count);
  pthread_mutex_lock(&lock);
  sum += result;
#endif
  pthread_mutex_unlock(&lock);
#ifdef CALL
  struct sockaddr_in peer;
  socklen_t size = sizeof peer;
  getpeername(from, (struct sockaddr *)&peer, &size);
#endif
#ifdef TEXT
  char text[64];
  sum += (uint64_t)snprintf(text, sizeof text, "%d: %.3f", from, (double)count);
#endif
#ifdef YIELD
  sched_yield();
#endif
  (void)from;
}

/* Answers what can be read; 0 at the connection's end. */
static int answer(int from) {
  char bytes[65536];
  ssize_t got = read(from, bytes, sizeof bytes);
  if (got <= 0) {
    close(from);
    return 0;
  }
  work(from, bytes, got);
  for (ssize_t sent = 0, part; sent < got; sent += part)
    if ((part = write(from, bytes + sent, (size_t)(got - sent))) < 0) {
      perror("write");
      exit(1);
    }
  return 1;
}

static int accepted(int listener) {
  int user = accept(listener, NULL, NULL);
  setsockopt(user, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return user;
}

#ifdef THREADS
static void *user(void *number) {
  while (answer((int)(intptr_t)number)) continue;
  return NULL;
}

static void serve(int listener) {
  for (;;) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, user, (void *)(intptr_t)accepted(listener))) exit(1);
    pthread_detach(thread);
  }
}
#else
static void serve(int listener) {
  int poll = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, events[64];
  epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);
  for (;;) {
    int ready = epoll_wait(poll, events, 64, -1);
    for (int at = 0; at < ready; at++) {
      int from = events[at].data.fd;
      if (from == listener) {
        event.data.fd = accepted(listener);
        epoll_ctl(poll, EPOLL_CTL_ADD, event.data.fd, &event);
      } else {
        answer(from);
      }
    }
  }
}
#endif

int main(int count, char **words) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  char *colon = count == 2 ? strrchr(words[1], ':') : NULL;
  if (!colon) return fprintf(stderr, "usage: echo HOST:PORT\n"), 2;
  address.sin_port = htons((uint16_t)atoi(colon + 1));
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
#ifdef BUFFER
  int buffer = BUFFER;
  setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
#endif
  if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 512)) return perror("bind"), 1;
  serve(listener);
}
