/* For LD_PRELOAD: gives each connection of slowhttptest, which cannot choose, a source address in 127.1.0.0/16. */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <sys/socket.h>

int connect(int descriptor, const struct sockaddr *address, socklen_t length) {
  static int (*connect_itself)(int, const struct sockaddr *, socklen_t);
  static unsigned turn;
  if (!connect_itself) connect_itself = (int (*)(int, const struct sockaddr *, socklen_t))dlsym(RTLD_NEXT, "connect");
  if (address->sa_family == AF_INET) {
    unsigned number = turn++ % 20000;
    struct sockaddr_in source = {.sin_family = AF_INET};
    source.sin_addr.s_addr = htonl(127u << 24 | 1u << 16 | (number / 200) << 8 | (number % 200 + 1));
    bind(descriptor, (struct sockaddr *)&source, sizeof source);
  }
  return connect_itself(descriptor, address, length);
}
