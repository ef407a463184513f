// The floor of an admission: accept, TLS 1.3, read the request, the two SHA-256 of an assertion, one P-256
// verification with the key made from its point, write and fdatasync, connect the game with bounded buffers and
// keepalive, answer 101 with the SHA-1 of the key, answer the close, end both directions in order, close. Nothing
// is parsed or looked up.
//
//   admission CERTIFICATE KEY BACKEND-PORT FILE    prints its own port; FILE takes the counters
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../common/common.h"

enum stage { SECURING, REQUESTED, CALLING, ADMITTED, LEAVING };
// A journal's fact: the key's identifier, its counter, the time.
enum { RECORD = 48 };

struct admission;
struct leg {
  struct admission *admission;
  int descriptor;
};
struct admission {
  struct leg client, game;
  SSL *tls;
  enum stage stage;
};

static struct {
  unsigned char point[65], message[32], signature[80];
  size_t signature_length;
} sample;
static EVP_MD *sha256, *sha1;
static int poller, journal;
static uint16_t game_port;
static unsigned char scratch[16384];
static const char answer[] =
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
static const unsigned char close_frame[] = {0x88, 0x02, 0x03, 0xE8};

static void make_sample(void) {
  EVP_PKEY *key = EVP_EC_gen("P-256");
  size_t length;
  memset(sample.message, 7, sizeof sample.message);
  if (EVP_PKEY_get_octet_string_param(
          key, OSSL_PKEY_PARAM_PUB_KEY, sample.point, sizeof sample.point, &length) != 1)
    die("the sample's point");
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
  sample.signature_length = sizeof sample.signature;
  if (EVP_PKEY_sign_init(context) != 1 || EVP_PKEY_sign(context, sample.signature, &sample.signature_length,
                                                        sample.message, sizeof sample.message) != 1)
    die("the sample's signature");
  EVP_PKEY_CTX_free(context);
  EVP_PKEY_free(key);
}

static EVP_PKEY *key_of_point(void) {
  EVP_PKEY *key = NULL;
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
  OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, (char *)"prime256v1", 0),
      OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, sample.point, sizeof sample.point),
      OSSL_PARAM_construct_end()};
  if (EVP_PKEY_fromdata_init(context) != 1 ||
      EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters) != 1)
    die("a key from its point");
  EVP_PKEY_CTX_free(context);
  return key;
}

// An assertion's clientDataHash and nonce: of a challenge with the headers bound to it, and of that with the
// authenticator data.
static void hash_assertion(void) {
  unsigned char data[32 + 37] = {0}, digest[32];
  if (EVP_Digest(scratch, 200, digest, NULL, sha256, NULL) != 1) die("SHA-256");
  memcpy(data + 37, digest, sizeof digest);
  if (EVP_Digest(data, sizeof data, digest, NULL, sha256, NULL) != 1) die("SHA-256");
}

static void hash_websocket_key(void) {
  unsigned char digest[20];
  if (EVP_Digest(scratch, 24 + 36, digest, NULL, sha1, NULL) != 1) die("SHA-1");
}

static void verify(void) {
  EVP_PKEY *key = key_of_point();
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
  if (EVP_PKEY_verify_init(context) != 1 ||
      EVP_PKEY_verify(context, sample.signature, sample.signature_length, sample.message,
                      sizeof sample.message) != 1)
    die("the sample does not verify");
  EVP_PKEY_CTX_free(context);
  EVP_PKEY_free(key);
}

static void store(void) {
  static unsigned char record[RECORD];
  if (write(journal, record, sizeof record) != sizeof record || fdatasync(journal) != 0) die("the journal");
}

static void set(int descriptor, int level, int option, int value) {
  if (setsockopt(descriptor, level, option, &value, sizeof value) != 0) die("setsockopt");
}

// The leg to the game: what the kernel keeps for it is bounded, and a dead game is noticed.
static void tune(int descriptor) {
  set(descriptor, SOL_SOCKET, SO_RCVBUF, 64 << 10);
  set(descriptor, SOL_SOCKET, SO_SNDBUF, 128 << 10);
  set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, 60);
  set(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, 15);
  set(descriptor, IPPROTO_TCP, TCP_KEEPCNT, 4);
}

static void watch(struct leg *leg, uint32_t events) {
  struct epoll_event event = {.events = events, .data.ptr = leg};
  if (epoll_ctl(poller, EPOLL_CTL_ADD, leg->descriptor, &event) != 0) die("epoll_ctl");
}

// False when the client is gone.
static bool client_turn(struct admission *admission) {
  if (admission->stage == LEAVING) return read(admission->client.descriptor, scratch, sizeof scratch) > 0;
  if (admission->stage == SECURING) {
    int result = SSL_accept(admission->tls);
    if (result != 1) return tls_wants(admission->tls, result) == SSL_ERROR_WANT_READ;
    admission->stage = REQUESTED;
    if (!SSL_has_pending(admission->tls)) return true;
  }
  int count = SSL_read(admission->tls, scratch, sizeof scratch);
  if (count <= 0) return tls_wants(admission->tls, count) == SSL_ERROR_WANT_READ;
  if (admission->stage == REQUESTED) {
    hash_assertion();
    verify();
    store();
    admission->game.descriptor = begin_connect(game_port, 0);
    tune(admission->game.descriptor);
    watch(&admission->game, EPOLLIN | EPOLLOUT | EPOLLET);
    admission->stage = CALLING;
    return true;
  }
  // The close is answered, and the end of both legs said; the client's own is waited for.
  SSL_write(admission->tls, close_frame, sizeof close_frame);
  SSL_shutdown(admission->tls);
  shutdown(admission->client.descriptor, SHUT_WR);
  shutdown(admission->game.descriptor, SHUT_WR);
  admission->stage = LEAVING;
  return true;
}

static bool game_turn(struct admission *admission) {
  if (admission->stage != CALLING) return admission->stage == LEAVING;
  int error;
  socklen_t length = sizeof error;
  if (getsockopt(admission->game.descriptor, SOL_SOCKET, SO_ERROR, &error, &length) != 0 || error != 0)
    die("the game cannot be called");
  hash_websocket_key();
  SSL_write(admission->tls, answer, sizeof answer - 1);
  admission->stage = ADMITTED;
  return true;
}

static void end(struct admission *admission) {
  SSL_free(admission->tls);
  close(admission->client.descriptor);
  if (admission->game.descriptor >= 0) close(admission->game.descriptor);
  admission->client.descriptor = admission->game.descriptor = -1;
}

static void accept_all(int listener, SSL_CTX *context) {
  int descriptor;
  while ((descriptor = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
    without_delay(descriptor);
    struct admission *admission = calloc(1, sizeof *admission);
    if (admission == NULL) die("calloc");
    admission->client = (struct leg){.admission = admission, .descriptor = descriptor};
    admission->game = (struct leg){.admission = admission, .descriptor = -1};
    admission->tls = SSL_new(context);
    SSL_set_fd(admission->tls, descriptor);
    watch(&admission->client, EPOLLIN);
  }
}

int main(int count, char **arguments) {
  if (count != 5) die("usage: admission CERTIFICATE KEY BACKEND-PORT FILE");
  SSL_CTX *context = server_tls(arguments[1], arguments[2]);
  game_port = (uint16_t)atoi(arguments[3]);
  journal = open(arguments[4], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (journal < 0) die("%s", arguments[4]);
  make_sample();
  sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
  sha1 = EVP_MD_fetch(NULL, "SHA1", NULL);
  if (sha256 == NULL || sha1 == NULL) die("EVP_MD_fetch");
  poller = epoll_create1(EPOLL_CLOEXEC);
  uint16_t port = 0;
  int listener = listen_on(&port);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
  epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event);
  printf("%u\n", port);
  fflush(stdout);
  while (true) {
    struct epoll_event events[64];
    struct admission *ended[64];
    int ended_count = 0, found = epoll_wait(poller, events, LENGTH(events), -1);
    for (int index = 0; index < found; index++) {
      struct leg *leg = events[index].data.ptr;
      if (leg == NULL) {
        accept_all(listener, context);
        continue;
      }
      struct admission *admission = leg->admission;
      if (leg->descriptor < 0) continue;  // the other leg's event has ended it
      if (leg == &admission->client ? client_turn(admission) : game_turn(admission)) continue;
      end(admission);
      ended[ended_count++] = admission;
    }
    for (int index = 0; index < ended_count; index++) free(ended[index]);
  }
}
