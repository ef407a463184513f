// From the connect to an open session: TCP, TLS, a challenge where one is needed, and the WebSocket upgrade.
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "load.h"

static const char challenge_request[] = "GET /attest/challenge HTTP/1.1\r\nHost: localhost\r\n\r\n";
enum { HEAD_MAXIMUM = 8192 };

uint32_t source_address(int number, int each) {
  int address = number / each;
  return 127u << 24 | 1u << 16 | (uint32_t)(address / 250) << 8 | (uint32_t)(address % 250 + 1);
}

char *upgrade_request(int number, const char *fields) {
  char *request, more[STAY_FIELDS] = "";
  if (load.settings.protocol == RESUMABLE) stay_fields(number, more);
  if (asprintf(&request,
               "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
               "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n%s%s\r\n",
               more, fields) < 0)
    die("asprintf");
  return request;
}

void watch_session(struct session *session, uint32_t events) {
  if (session->events == events) return;
  struct epoll_event event = {.events = events, .data.ptr = session};
  int operation = session->events == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  if (epoll_ctl(load.poller, operation, session->descriptor, &event) != 0) die("epoll_ctl");
  session->events = events;
}

void start_session(struct session *session, int number, uint32_t source, char *request) {
  *session = (struct session){.number = number, .request = request, .stage = CONNECTING};
  session->started = monotonic_ns();
  session->descriptor = begin_connect(load.settings.port, source);
  watch_session(session, EPOLLOUT);
}

void end_session(struct session *session) {
  if (session->tls != NULL) SSL_free(session->tls);
  close(session->descriptor);
  free(session->head);
  free(session->request);
  free(session->due);
  free(session->text);
  *session = (struct session){.stage = CLOSED, .number = session->number, .descriptor = -1};
}

int read_some(struct session *session) {
  ssize_t count;
  if (session->tls != NULL) {
    count = SSL_read(session->tls, load.scratch, SCRATCH);
    if (count > 0) return (int)count;
    int wants = tls_wants(session->tls, (int)count);
    if (wants == SSL_ERROR_WANT_READ) return 0;
    if (wants == SSL_ERROR_ZERO_RETURN || session->stage == LEAVING) return -1;
    die("session %d: reading failed", session->number);
  }
  count = recv(session->descriptor, load.scratch, SCRATCH, 0);
  if (count > 0) return (int)count;
  if (count < 0 && errno == EAGAIN) return 0;
  return -1;
}

bool more_waits(struct session *session) {
  return session->tls != NULL && (SSL_pending(session->tls) > 0 || SSL_has_pending(session->tls));
}

void write_all(struct session *session, const unsigned char *data, size_t count) {
  ssize_t written = session->tls != NULL ? SSL_write(session->tls, data, (int)count)
                                         : send(session->descriptor, data, count, MSG_NOSIGNAL);
  // Messages are small and few are under way: a full socket means that the other side has stopped reading.
  if (written != (ssize_t)count)
    die("session %d: could write %zd of %zu bytes", session->number, written, count);
}

const char *take_response(struct session *session, int *status) {
  int count = read_some(session);
  if (count < 0) die("session %d: closed instead of an answer: %s", session->number, session->head);
  if (session->head == NULL) {
    session->head = calloc(1, HEAD_MAXIMUM);
    if (session->head == NULL) die("calloc");
  }
  if (session->head_count + (size_t)count >= HEAD_MAXIMUM) die("a response of more than 8 KiB");
  memcpy(session->head + session->head_count, load.scratch, (size_t)count);
  session->head_count += (size_t)count;
  session->head[session->head_count] = 0;
  char *end = strstr(session->head, "\r\n\r\n");
  if (end == NULL) return NULL;
  const char *length = strcasestr(session->head, "\r\nContent-Length:");
  size_t body = length != NULL && length < end ? strtoul(length + 17, NULL, 10) : 0;
  size_t whole = (size_t)(end - session->head) + 4 + body;
  if (session->head_count < whole) return NULL;
  if (session->head_count > whole) die("session %d: more than a response", session->number);
  session->head_count = 0;
  *status = atoi(session->head + strlen("HTTP/1.1 "));
  return session->head;
}

static void expect(struct session *session, int status, int expected, const char *response) {
  if (status != expected) die("session %d: answered with:\n%s", session->number, response);
}

static void secured(struct session *session) {
  if (session->request != NULL) {
    write_all(session, (unsigned char *)session->request, strlen(session->request));
    session->stage = UPGRADING;
  } else if (load.settings.protocol >= ADMITTED) {
    write_all(session, (const unsigned char *)challenge_request, strlen(challenge_request));
    session->stage = ASKING;
  } else if (load.settings.protocol == WEBSOCKET) {
    session->request = upgrade_request(session->number, "");
    write_all(session, (unsigned char *)session->request, strlen(session->request));
    session->stage = UPGRADING;
  } else {
    session->stage = OPEN;
  }
  watch_session(session, EPOLLIN);
}

static void connected(struct session *session) {
  int error = 0;
  socklen_t length = sizeof error;
  getsockopt(session->descriptor, SOL_SOCKET, SO_ERROR, &error, &length);
  if (error != 0) die("session %d: connect: %s", session->number, strerror(error));
  if (load.settings.protocol == PLAIN) {
    session->stage = OPEN;
    watch_session(session, EPOLLIN);
    return;
  }
  session->tls = SSL_new(load.tls);
  SSL_set_fd(session->tls, session->descriptor);
  SSL_set_connect_state(session->tls);
  session->stage = SECURING;
}

static void asked(struct session *session) {
  int status;
  const char *response = take_response(session, &status);
  if (response == NULL) return;
  expect(session, status, 200, response);
  const char *nonce = strstr(response, "\"nonce\":\"");
  if (nonce == NULL) die("not a challenge: %s", response);
  char *fields = assertion_fields(session->number, nonce + 9);
  session->request = upgrade_request(session->number, fields);
  free(fields);
  write_all(session, (unsigned char *)session->request, strlen(session->request));
  session->stage = UPGRADING;
}

static void refuse_payload(struct session *session, const unsigned char *data, size_t count) {
  (void)data;
  die("session %d: %zu bytes that nobody has asked for", session->number, count);
}

void advance(struct session *session) {
  if (session->stage == CONNECTING) connected(session);
  if (session->stage == SECURING) {
    int result = SSL_do_handshake(session->tls);
    if (result == 1) {
      secured(session);
      return;
    }
    switch (tls_wants(session->tls, result)) {
    case SSL_ERROR_WANT_READ: watch_session(session, EPOLLIN); return;
    case SSL_ERROR_WANT_WRITE: watch_session(session, EPOLLOUT); return;
    default: die("session %d: the handshake failed", session->number);
    }
  }
  if (session->stage == ASKING) {
    asked(session);
  } else if (session->stage == UPGRADING) {
    int status;
    const char *response = take_response(session, &status);
    if (response == NULL) return;
    expect(session, status, 101, response);
    session->stage = load.settings.protocol == RESUMABLE ? GREETING : OPEN;
  }
  if (session->stage == GREETING) take_input(session, refuse_payload);
  if (session->stage == OPEN) {
    free(session->head);
    free(session->request);
    session->head = session->request = NULL;
  }
}

void open_sessions(int count, int at_once) {
  load.sessions = calloc((size_t)count, sizeof *load.sessions);
  if (load.sessions == NULL) die("calloc");
  load.count = count;
  int started = 0, open = 0;
  while (open < count) {
    for (; started < count && started - open < at_once; started++)
      start_session(&load.sessions[started], started, source_address(started, 100), NULL);
    struct epoll_event events[MAXIMUM_EVENTS];
    int found = epoll_wait(load.poller, events, MAXIMUM_EVENTS, 20000);
    if (found == 0) die("%d of %d sessions are open, and nothing happens", open, count);
    for (int index = 0; index < found; index++) {
      struct session *session = events[index].data.ptr;
      if (session->stage == OPEN) {
        take_input(session, refuse_payload);  // tickets and pings
        continue;
      }
      advance(session);
      if (session->stage == OPEN) open++;
    }
  }
}

void close_sessions(void) {
  for (int index = 0; index < load.count; index++) {
    struct session *session = &load.sessions[index];
    if (session->tls != NULL) SSL_shutdown(session->tls);
    end_session(session);
  }
  free(load.sessions);
  load.sessions = NULL;
  load.count = 0;
}
