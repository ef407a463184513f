// The floor of an idle session: TLS accepted with SSL_MODE_RELEASE_BUFFERS, the `SSL` kept, and nothing else;
// there is no second leg.
//
//   idle CERTIFICATE KEY    prints its own port
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "../common/common.h"

static void turn(SSL *tls) {
  if (SSL_is_init_finished(tls)) return;
  int result = SSL_accept(tls);
  if (result != 1 && tls_wants(tls, result) != SSL_ERROR_WANT_READ) die("the handshake failed");
}

int main(int count, char **arguments) {
  if (count != 3) die("usage: idle CERTIFICATE KEY");
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  SSL_CTX *context = server_tls(arguments[1], arguments[2]);
  int poller = epoll_create1(EPOLL_CLOEXEC);
  uint16_t port = 0;
  int listener = listen_on(&port);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
  epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event);
  printf("%u\n", port);
  fflush(stdout);
  while (1) {
    struct epoll_event events[64];
    int found = epoll_wait(poller, events, LENGTH(events), -1);
    for (int index = 0; index < found; index++) {
      if (events[index].data.ptr != NULL) {
        turn(events[index].data.ptr);
        continue;
      }
      int descriptor;
      while ((descriptor = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        SSL *tls = SSL_new(context);
        SSL_set_fd(tls, descriptor);
        // Edge-triggered: what comes after the handshake is never read.
        struct epoll_event watched = {.events = EPOLLIN | EPOLLET, .data.ptr = tls};
        if (epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &watched) != 0) die("epoll_ctl");
      }
    }
  }
}
