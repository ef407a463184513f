// The floor of a relay: TLS on one side, TCP on the other, epoll, one read and one write call a turn, and
// nothing else: no HTTP, no WebSocket, no limits, no log.
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

enum { CHUNK = 65536 };

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
  unsigned char *waiting;  // records that the socket would not take; the game is not read meanwhile
  size_t waiting_count;
};

static int poller;
static unsigned char scratch[CHUNK];
// The records that TLS makes of one turn, sent as a whole by one call.
static unsigned char records[CHUNK + 4096];
static size_t records_count;
static uint16_t game_port;

static void watch(struct leg *leg, uint32_t events) {
  if (leg->events == events) return;
  struct epoll_event event = {.events = events, .data.ptr = leg};
  int operation = leg->events == 0 ? EPOLL_CTL_ADD : events == 0 ? EPOLL_CTL_DEL : EPOLL_CTL_MOD;
  if (epoll_ctl(poller, operation, leg->descriptor, &event) != 0) die("epoll_ctl");
  leg->events = events;
}

static int collect(BIO *output, const char *data, int count) {
  (void)output;
  if (records_count + (size_t)count > sizeof records) die("more records than one turn makes");
  memcpy(records + records_count, data, (size_t)count);
  records_count += (size_t)count;
  return count;
}

static long control(BIO *output, int command, long number, void *pointer) {
  (void)output;
  (void)number;
  (void)pointer;
  return command == BIO_CTRL_FLUSH;
}

static BIO *collecting_output(void) {
  static BIO_METHOD *method;
  if (method == NULL) {
    method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "records");
    BIO_meth_set_write(method, collect);
    BIO_meth_set_ctrl(method, control);
  }
  BIO *output = BIO_new(method);
  BIO_set_init(output, 1);
  return output;
}

// To the client, by one call; what it does not take waits, and the game is not read meanwhile.
static bool send_records(struct relay *relay, unsigned char *data, size_t count) {
  ssize_t sent = count > 0 ? send(relay->client.descriptor, data, count, MSG_NOSIGNAL) : 0;
  records_count = 0;
  if (sent < 0 && errno != EAGAIN) return false;
  size_t left = count - (size_t)(sent > 0 ? sent : 0);
  if (left > 0 && relay->waiting == NULL) relay->waiting = malloc(sizeof records);
  if (left > 0) memmove(relay->waiting, data + count - left, left);
  if (left == 0 && relay->waiting != NULL) {
    free(relay->waiting);
    relay->waiting = NULL;
  }
  relay->waiting_count = left;
  watch(&relay->client, left > 0 ? EPOLLIN | EPOLLOUT : EPOLLIN);
  if (relay->game.descriptor >= 0) watch(&relay->game, left > 0 ? 0 : EPOLLIN);
  return true;
}

static void end(struct relay *relay) {
  SSL_shutdown(relay->tls);
  if (relay->waiting == NULL) send_records(relay, records, records_count);
  records_count = 0;
  SSL_free(relay->tls);
  close(relay->client.descriptor);
  if (relay->game.descriptor >= 0) close(relay->game.descriptor);
  relay->client.descriptor = relay->game.descriptor = -1;
}

static bool client_turn(struct relay *relay, uint32_t events) {
  if (!relay->is_secured) {
    int result = SSL_accept(relay->tls);
    if (!send_records(relay, records, records_count)) return false;
    if (result != 1) return tls_wants(relay->tls, result) == SSL_ERROR_WANT_READ;
    relay->is_secured = true;
    relay->game.descriptor = begin_connect(game_port, 0);
    watch(&relay->game, EPOLLIN);
    // What came with the end of the handshake has been read ahead, and no event will tell.
    if (!SSL_has_pending(relay->tls)) return true;
    events = EPOLLIN;
  }
  if ((events & EPOLLOUT) && relay->waiting != NULL &&
      !send_records(relay, relay->waiting, relay->waiting_count))
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
  if (relay->waiting != NULL) return true;  // an event from before the game was left alone
  ssize_t count = recv(relay->game.descriptor, scratch, sizeof scratch, 0);
  if (count < 0 && errno == EAGAIN) return true;
  if (count <= 0) return false;
  for (int done = 0; done < count;) {
    // It makes one record a call.
    int written = SSL_write(relay->tls, scratch + done, (int)count - done);
    if (written <= 0) return false;
    done += written;
  }
  return send_records(relay, records, records_count);
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
    SSL_set_bio(relay->tls, BIO_new_socket(descriptor, BIO_NOCLOSE), collecting_output());
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
