// The game behind the gates: returns what it is sent (GMCP as well, once a session's first line has asked for it), or sends as much as it is asked for, as plain TCP and
// as a WebSocket server (for proxies that pass WebSocket on). It counts the payload, which the load generator
// counts too.
//
// It prints the ports of its four listeners as one JSON line; for each line on standard input it prints its
// counts.
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../common/common.h"
#include "telnet.h"
#include "websocket.h"

enum { ECHO = 0, BULK = 1, PLAIN = 0, WEBSOCKET = 2, KINDS = 4 };
enum { MESSAGE = 16384, SCRATCH = 1 << 18 };

struct connection {
  int descriptor;
  int kind;
  bool is_upgraded;
  bool wants_room;
  uint64_t owed;        // bulk: payload still to be sent
  struct bytes input;   // a head, a frame or an order for bulk that is not whole yet
  struct bytes output;  // what the socket would not take
  struct telnet telnet;
};

static struct {
  uint64_t accepted, open, received, sent;
} counts;
static int poller;
static int listeners[KINDS];
static unsigned char scratch[SCRATCH], reply[SCRATCH * 2], filler[MESSAGE + 4];

static void watch(struct connection *connection, int operation, uint32_t events) {
  struct epoll_event event = {.events = events, .data.ptr = connection};
  if (epoll_ctl(poller, operation, connection->descriptor, &event) != 0) die("epoll_ctl");
}

static void end(struct connection *connection) {
  close(connection->descriptor);
  bytes_free(&connection->input);
  bytes_free(&connection->output);
  bytes_free(&connection->telnet.inside);
  free(connection);
  counts.open--;
}

// False when the connection is gone.
static bool send_all(struct connection *connection, const unsigned char *data, size_t count) {
  size_t done = 0;
  while (connection->output.count == 0 && done < count) {
    ssize_t written = send(connection->descriptor, data + done, count - done, MSG_NOSIGNAL);
    if (written < 0 && errno == EAGAIN) break;
    if (written < 0) return false;
    done += (size_t)written;
  }
  if (done < count) bytes_append(&connection->output, data + done, count - done);
  bool wants_room = connection->output.count > 0 || connection->owed > 0;
  if (wants_room != connection->wants_room) {
    connection->wants_room = wants_room;
    watch(connection, EPOLL_CTL_MOD, EPOLLIN | (wants_room ? EPOLLOUT : 0));
  }
  return true;
}

// Bulk goes out in messages of 16 KiB, one a turn, as long as the socket takes them.
static bool send_owed(struct connection *connection) {
  while (connection->output.count == 0 && connection->owed > 0) {
    size_t count = connection->owed < MESSAGE ? (size_t)connection->owed : MESSAGE;
    connection->owed -= count;
    counts.sent += count;
    size_t head = 0;
    if (connection->kind & WEBSOCKET) head = frame_head(reply, count);
    memcpy(reply + head, filler, count);
    if (!send_all(connection, reply, head + count)) return false;
  }
  return send_all(connection, NULL, 0);
}

static bool take_payload(struct connection *connection, unsigned char *data, size_t count) {
  counts.received += count;
  if (connection->kind & BULK) {
    // An order is the number of bytes wanted, eight bytes in network order.
    bytes_append(&connection->input, data, count);
    while (connection->input.count >= 8) {
      for (int index = 0; index < 8; index++)
        connection->owed += (uint64_t)connection->input.data[index] << (56 - 8 * index);
      bytes_drop(&connection->input, 8);
    }
    return send_owed(connection);
  }
  counts.sent += count;
  if (connection->kind & WEBSOCKET) {
    size_t head = frame_head(reply, count);
    memcpy(reply + head, data, count);
    return send_all(connection, reply, head + count);
  }
  return send_all(connection, data, count);
}

// Events are asked for on the listener for echoes, so that one gate has sessions with and without.
static bool take_plain(struct connection *connection, unsigned char *data, size_t count) {
  struct telnet *telnet = &connection->telnet;
  if (connection->kind == (ECHO | PLAIN) && telnet_begins(telnet, data, count, reply))
    return send_all(connection, reply, 3);
  if (!telnet->is_spoken) return take_payload(connection, data, count);
  size_t answer = telnet_echo(telnet, data, count, reply);
  counts.received += count;
  counts.sent += answer;
  return send_all(connection, reply, answer);
}

static bool take_websocket(struct connection *connection, size_t count) {
  static struct bytes whole;
  whole.count = 0;
  bytes_append(&whole, connection->input.data, connection->input.count);
  bytes_append(&whole, scratch, count);
  connection->input.count = 0;
  size_t used = 0;
  if (!connection->is_upgraded) {
    char answer[256];
    used = upgrade(whole.data, whole.count, answer, sizeof answer);
    if (used > 0) {
      connection->is_upgraded = true;
      if (!send_all(connection, (unsigned char *)answer, strlen(answer))) return false;
    }
  }
  struct frame frame;
  while (connection->is_upgraded && parse_frame(whole.data + used, whole.count - used, &frame)) {
    unmask(&frame);
    used += (size_t)(frame.payload - (whole.data + used)) + frame.count;
    if (frame.opcode == 8) return false;
    if (frame.opcode > 2) continue;
    if (connection->kind & BULK) {
      struct bytes rest = connection->input;
      connection->input = (struct bytes){0};
      bool is_open = take_payload(connection, frame.payload, frame.count);
      bytes_free(&connection->input);
      connection->input = rest;
      if (!is_open) return false;
    } else if (!take_payload(connection, frame.payload, frame.count)) {
      return false;
    }
  }
  bytes_append(&connection->input, whole.data + used, whole.count - used);
  return true;
}

static bool serve(struct connection *connection, uint32_t events) {
  if (events & EPOLLOUT) {
    while (connection->output.count > 0) {
      ssize_t written =
          send(connection->descriptor, connection->output.data, connection->output.count, MSG_NOSIGNAL);
      if (written < 0 && errno == EAGAIN) return true;
      if (written < 0) return false;
      bytes_drop(&connection->output, (size_t)written);
    }
    if (!send_owed(connection)) return false;
  }
  if (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) {
    ssize_t count = recv(connection->descriptor, scratch, sizeof scratch, 0);
    if (count < 0 && errno == EAGAIN) return true;
    if (count <= 0) return false;
    if (connection->kind & WEBSOCKET) return take_websocket(connection, (size_t)count);
    return take_plain(connection, scratch, (size_t)count);
  }
  return true;
}

static void accept_all(int kind) {
  while (true) {
    int descriptor = accept4(listeners[kind], NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor < 0) return;
    without_delay(descriptor);
    struct connection *connection = calloc(1, sizeof *connection);
    if (connection == NULL) die("calloc");
    connection->descriptor = descriptor;
    connection->kind = kind;
    counts.accepted++;
    counts.open++;
    watch(connection, EPOLL_CTL_ADD, EPOLLIN);
  }
}

static void answer_counts(void) {
  char line[256];
  ssize_t count = read(STDIN_FILENO, line, sizeof line);
  if (count <= 0) exit(0);
  printf("{\"accepted\": %lu, \"open\": %lu, \"received\": %lu, \"sent\": %lu, \"processor_ns\": %lu}\n",
         counts.accepted, counts.open, counts.received, counts.sent, processor_ns());
  fflush(stdout);
}

int main(void) {
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  memset(filler, 'x', sizeof filler);
  poller = epoll_create1(EPOLL_CLOEXEC);
  uint16_t ports[KINDS] = {0};
  for (int kind = 0; kind < KINDS; kind++) {
    listeners[kind] = listen_on(&ports[kind]);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &listeners[kind]};
    epoll_ctl(poller, EPOLL_CTL_ADD, listeners[kind], &event);
  }
  struct epoll_event input = {.events = EPOLLIN, .data.ptr = NULL};
  if (epoll_ctl(poller, EPOLL_CTL_ADD, STDIN_FILENO, &input) != 0) die("standard input must be a pipe");
  printf("{\"echo\": %u, \"bulk\": %u, ", ports[ECHO | PLAIN], ports[BULK | PLAIN]);
  printf("\"websocket_echo\": %u, ", ports[ECHO | WEBSOCKET]);
  printf("\"websocket_bulk\": %u}\n", ports[BULK | WEBSOCKET]);
  fflush(stdout);
  while (true) {
    struct epoll_event events[256];
    int count = epoll_wait(poller, events, LENGTH(events), -1);
    for (int index = 0; index < count; index++) {
      void *owner = events[index].data.ptr;
      if (owner == NULL) {
        answer_counts();
      } else if (owner >= (void *)listeners && owner < (void *)(listeners + KINDS)) {
        accept_all((int)((int *)owner - listeners));
      } else if (!serve(owner, events[index].events)) {
        end(owner);
      }
    }
  }
}
