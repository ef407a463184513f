// The floor of a relay: TLS on one side, TCP on the other, epoll, one read and one write call a turn, and nothing
// else: no HTTP, no WebSocket, no limits, no log.
//
//   relay CERTIFICATE KEY BACKEND-PORT    prints its own port
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../common/common.h"

enum { CHUNK = 16384 };

struct relay;
struct leg {
  struct relay *relay;
  int descriptor;
  uint32_t events;
};
struct relay {
  struct leg client, game;
  SSL *tls;
  bool is_secured;
  unsigned char *waiting;  // from the game, what TLS would not take
  size_t waiting_count;
};

static int poller;
static unsigned char scratch[CHUNK];
static uint16_t game_port;

static void watch(struct leg *leg, uint32_t events) {
  if (leg->events == events) return;
  struct epoll_event event = {.events = events, .data.ptr = leg};
  int operation = leg->events == 0 ? EPOLL_CTL_ADD : events == 0 ? EPOLL_CTL_DEL : EPOLL_CTL_MOD;
  if (epoll_ctl(poller, operation, leg->descriptor, &event) != 0) die("epoll_ctl");
  leg->events = events;
}

static void end(struct relay *relay) {
  SSL_shutdown(relay->tls);
  SSL_free(relay->tls);
  close(relay->client.descriptor);
  if (relay->game.descriptor >= 0) close(relay->game.descriptor);
  relay->client.descriptor = -1;
  relay->game.descriptor = -1;
}

// To the client; what does not fit waits, and the game is not read meanwhile.
static bool send_to_client(struct relay *relay, const unsigned char *data, size_t count) {
  size_t done = 0;
  while (done < count) {
    int written = SSL_write(relay->tls, data + done, (int)(count - done));
    if (written > 0) {
      done += (size_t)written;
      continue;
    }
    if (tls_wants(relay->tls, written) != SSL_ERROR_WANT_WRITE) return false;
    if (relay->waiting == NULL) relay->waiting = malloc(CHUNK);
    if (relay->waiting == NULL) die("malloc");
    memmove(relay->waiting, data + done, count - done);
    relay->waiting_count = count - done;
    watch(&relay->client, EPOLLIN | EPOLLOUT);
    watch(&relay->game, 0);
    return true;
  }
  if (relay->waiting != NULL) {
    free(relay->waiting);
    relay->waiting = NULL;
    relay->waiting_count = 0;
    watch(&relay->client, EPOLLIN);
    watch(&relay->game, EPOLLIN);
  }
  return true;
}

static bool client_turn(struct relay *relay, uint32_t events) {
  if (!relay->is_secured) {
    int result = SSL_accept(relay->tls);
    if (result != 1) return tls_wants(relay->tls, result) == SSL_ERROR_WANT_READ;
    relay->is_secured = true;
    relay->game.descriptor = begin_connect(game_port, 0);
    watch(&relay->game, EPOLLIN);
    // What came with the end of the handshake has been read ahead, and no event will tell.
    if (!SSL_has_pending(relay->tls)) return true;
    events = EPOLLIN;
  }
  if ((events & EPOLLOUT) && relay->waiting != NULL &&
      !send_to_client(relay, relay->waiting, relay->waiting_count))
    return false;
  if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR))) return true;
  do {
    int count = SSL_read(relay->tls, scratch, sizeof scratch);
    if (count <= 0) return tls_wants(relay->tls, count) == SSL_ERROR_WANT_READ;
    if (send(relay->game.descriptor, scratch, (size_t)count, MSG_NOSIGNAL) != count) return false;
  } while (SSL_has_pending(relay->tls));
  return true;
}

static bool game_turn(struct relay *relay) {
  ssize_t count = recv(relay->game.descriptor, scratch, sizeof scratch, 0);
  if (count < 0 && errno == EAGAIN) return true;
  if (count <= 0) return false;
  return send_to_client(relay, scratch, (size_t)count);
}

static void accept_all(int listener, SSL_CTX *context) {
  int descriptor;
  while ((descriptor = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
    without_delay(descriptor);
    struct relay *relay = calloc(1, sizeof *relay);
    if (relay == NULL) die("calloc");
    relay->client = (struct leg){.relay = relay, .descriptor = descriptor};
    relay->game = (struct leg){.relay = relay, .descriptor = -1};
    relay->tls = SSL_new(context);
    SSL_set_fd(relay->tls, descriptor);
    watch(&relay->client, EPOLLIN);
  }
}

int main(int count, char **arguments) {
  if (count != 4) die("usage: relay CERTIFICATE KEY BACKEND-PORT");
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  SSL_CTX *context = server_tls(arguments[1], arguments[2]);
  game_port = (uint16_t)atoi(arguments[3]);
  poller = epoll_create1(EPOLL_CLOEXEC);
  uint16_t port = 0;
  int listener = listen_on(&port);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
  epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event);
  printf("%u\n", port);
  fflush(stdout);
  while (true) {
    struct epoll_event events[64];
    int found = epoll_wait(poller, events, LENGTH(events), -1);
    struct relay *ended[64];
    int ended_count = 0;
    for (int index = 0; index < found; index++) {
      struct leg *leg = events[index].data.ptr;
      if (leg == NULL) {
        accept_all(listener, context);
        continue;
      }
      struct relay *relay = leg->relay;
      if (leg->descriptor < 0) continue;  // the other leg's event has ended it
      bool is_open = leg == &relay->client ? client_turn(relay, events[index].events) : game_turn(relay);
      if (is_open) continue;
      end(relay);
      ended[ended_count++] = relay;
    }
    for (int index = 0; index < ended_count; index++) {
      free(ended[index]->waiting);
      free(ended[index]);
    }
  }
}
