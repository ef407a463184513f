// Clocks, sockets and an end with a reason, for all programs of the bench.
#define _GNU_SOURCE
#include "common.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

_Noreturn void die(const char *format, ...) {
  int error = errno;
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "%s: ", program_invocation_short_name);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  if (error != 0) fprintf(stderr, ": %s", strerror(error));
  fputc('\n', stderr);
  ERR_print_errors_fp(stderr);
  exit(1);
}

static uint64_t clock_ns(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

uint64_t monotonic_ns(void) { return clock_ns(CLOCK_MONOTONIC); }
uint64_t processor_ns(void) { return clock_ns(CLOCK_PROCESS_CPUTIME_ID); }

static struct sockaddr_in loopback(uint32_t address, uint16_t port) {
  struct sockaddr_in made = {.sin_family = AF_INET, .sin_port = htons(port)};
  made.sin_addr.s_addr = htonl(address);
  return made;
}

static int stream_socket(void) {
  int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) die("socket");
  return descriptor;
}

int listen_on(uint16_t *port) {
  int descriptor = stream_socket(), yes = 1;
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  struct sockaddr_in address = loopback(INADDR_LOOPBACK, *port);
  socklen_t length = sizeof address;
  if (bind(descriptor, (struct sockaddr *)&address, length) != 0) die("bind to port %u", *port);
  if (listen(descriptor, 4096) != 0) die("listen");
  if (getsockname(descriptor, (struct sockaddr *)&address, &length) != 0) die("getsockname");
  *port = ntohs(address.sin_port);
  return descriptor;
}

int begin_connect(uint16_t port, uint32_t source) {
  int descriptor = stream_socket(), yes = 1;
  if (source != 0) {
    // The port is chosen at connect, by the whole quadruple: ports do not run out.
    setsockopt(descriptor, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof yes);
    struct sockaddr_in from = loopback(source, 0);
    if (bind(descriptor, (struct sockaddr *)&from, sizeof from) != 0) die("bind to a source address");
  }
  struct sockaddr_in to = loopback(INADDR_LOOPBACK, port);
  if (connect(descriptor, (struct sockaddr *)&to, sizeof to) != 0 && errno != EINPROGRESS) die("connect");
  without_delay(descriptor);
  return descriptor;
}

void without_delay(int descriptor) {
  int yes = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

SSL_CTX *server_tls(const char *certificate, const char *key) {
  SSL_CTX *context = SSL_CTX_new(TLS_server_method());
  if (context == NULL) die("SSL_CTX_new");
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(context, 1);
  SSL_CTX_set_num_tickets(context, 1);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  if (SSL_CTX_use_certificate_chain_file(context, certificate) != 1) die("%s", certificate);
  if (SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1) die("%s", key);
  return context;
}

int tls_wants(SSL *tls, int result) {
  int error = SSL_get_error(tls, result);
  switch (error) {
  case SSL_ERROR_WANT_READ:
  case SSL_ERROR_WANT_WRITE:
  case SSL_ERROR_ZERO_RETURN: return error;
  default: return SSL_ERROR_SSL;
  }
}
