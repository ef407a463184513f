/* The game behind the gate while it is flooded: returns what sessions send that begin with 'E', asks those that begin with
 * 'T' all that it can by telnet, and swallows the rest.
 *
 * Prints its port, and serves until its standard input ends. */
#include "peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum manner { UNKNOWN, ECHOES, SWALLOWS };
static unsigned char manners[65536];
static char buffer[65536];
/* WILL GMCP, MSDP; DO TTYPE, NAWS, NEW-ENVIRON. */
static const unsigned char questions[] = {255, 251, 201, 255, 251, 69, 255, 253, 24, 255, 253, 31, 255, 253, 39};

static void play(int player) {
  ssize_t count = recv(player, buffer, sizeof buffer, MSG_DONTWAIT);
  if (count <= 0) {
    if (count < 0 && errno == EAGAIN) return;
    close(player);
    return;
  }
  if (manners[player] == UNKNOWN) {
    manners[player] = buffer[0] == 'E' ? ECHOES : SWALLOWS;
    if (buffer[0] == 'T' && send(player, questions, sizeof questions, MSG_NOSIGNAL) != sizeof questions)
      fprintf(stderr, "a question was cut\n");
  }
  /* Players who get an echo send little: what does not fit into a socket's buffer is their loss. */
  if (manners[player] == ECHOES && send(player, buffer, (size_t)count, MSG_DONTWAIT | MSG_NOSIGNAL) != count)
    fprintf(stderr, "an echo was cut\n");
}

static void welcome(int epoll, int listener) {
  int player = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  if (player < 0) return;
  if ((size_t)player >= COUNT(manners)) fail("too many players");
  int on = 1;
  setsockopt(player, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  manners[player] = UNKNOWN;
  watch(epoll, player, (void *)(intptr_t)player, false, true);
}

int main(void) {
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 4096) ||
      getsockname(listener, (struct sockaddr *)&address, &length))
    fail("the game cannot listen");
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  watch(epoll, listener, (void *)(intptr_t)listener, false, true);
  watch(epoll, STDIN_FILENO, (void *)(intptr_t)STDIN_FILENO, false, true);
  while (true) {
    struct epoll_event events[64];
    int count = epoll_wait(epoll, events, COUNT(events), -1);
    for (int index = 0; index < count; index++) {
      int ready = (int)(intptr_t)events[index].data.ptr;
      if (ready == STDIN_FILENO) return 0;
      if (ready == listener) welcome(epoll, listener);
      else play(ready);
    }
  }
}
