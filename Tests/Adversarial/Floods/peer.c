/* See peer.h. */
#include "peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* ---- time and numbers */

static uint64_t clock_ns(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

uint64_t now_ns(void) { return clock_ns(CLOCK_MONOTONIC); }
uint64_t cpu_ns(void) { return clock_ns(CLOCK_PROCESS_CPUTIME_ID); }

void fail(const char *what) {
  fprintf(stderr, "%s\n", what);
  exit(1);
}

const char *option(int argc, char **argv, const char *name, const char *otherwise) {
  for (int index = 1; index + 1 < argc; index++) {
    if (strncmp(argv[index], "--", 2) == 0 && strcmp(argv[index] + 2, name) == 0) return argv[index + 1];
  }
  if (!otherwise) {
    fprintf(stderr, "--%s is missing\n", name);
    exit(64);
  }
  return otherwise;
}

/* ---- sockets */

struct network network_of(int argc, char **argv, const char *second) {
  struct network network = {0};
  network.target.sin_family = AF_INET;
  network.target.sin_port = htons((uint16_t)atoi(option(argc, argv, "port", NULL)));
  network.target.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  network.second = (unsigned)atoi(option(argc, argv, "sources", second));
  return network;
}

int dial(struct network *network) {
  int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -1;
  int on = 1;
  setsockopt(descriptor, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  /* 20,000 addresses in turn, none of them a network's first or last. */
  unsigned turn = network->turn++ % 20000;
  struct sockaddr_in source = {.sin_family = AF_INET};
  source.sin_addr.s_addr = htonl(127u << 24 | network->second << 16 | (turn / 200) << 8 | (turn % 200 + 1));
  if (bind(descriptor, (struct sockaddr *)&source, sizeof source) == 0) {
    if (connect(descriptor, (struct sockaddr *)&network->target, sizeof network->target) == 0) return descriptor;
    if (errno == EINPROGRESS) return descriptor;
  }
  close(descriptor);
  return -1;
}

void drop(int descriptor) {
  struct linger at_once = {.l_onoff = 1, .l_linger = 0};
  setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close(descriptor);
}

void watch(int epoll, int descriptor, void *owner, bool writing, bool is_new) {
  struct epoll_event event = {.events = EPOLLIN | (writing ? EPOLLOUT : 0), .data.ptr = owner};
  if (epoll_ctl(epoll, is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, descriptor, &event) != 0) fail("epoll_ctl");
}

/* ---- TLS */

SSL_CTX *client_context(void) {
  SSL_CTX *context = SSL_CTX_new(TLS_client_method());
  if (!context) fail("SSL_CTX_new");
  /* Whom these programs talk to is no secret; checking the certificate would only cost them time. */
  SSL_CTX_set_verify(context, SSL_VERIFY_NONE, NULL);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  return context;
}

SSL *client_session(SSL_CTX *context, int descriptor) {
  SSL *tls = SSL_new(context);
  if (!tls || SSL_set_fd(tls, descriptor) != 1) fail("SSL_new");
  SSL_set_connect_state(tls);
  return tls;
}

static enum progress after(SSL *tls, int result) {
  if (result > 0) return READY;
  int error = SSL_get_error(tls, result);
  return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? GOES_ON : BROKEN;
}

enum progress shake_hands(SSL *tls) { return after(tls, SSL_do_handshake(tls)); }

enum progress send_all(SSL *tls, const void *bytes, size_t length) {
  size_t written = 0;
  int result = SSL_write_ex(tls, bytes, length, &written);
  return result == 1 && written == length ? READY : BROKEN;
}

/* ---- HTTP */

enum progress receive_answer(SSL *tls, struct answer *answer) {
  while (true) {
    answer->bytes[answer->length] = 0;
    char *head_end = strstr(answer->bytes, "\r\n\r\n");
    if (head_end) {
      if (sscanf(answer->bytes, "HTTP/1.1 %d", &answer->status) != 1) return BROKEN;
      char *length = strcasestr(answer->bytes, "\r\ncontent-length: ");
      size_t body = length && length < head_end ? (size_t)atol(length + 18) : 0;
      answer->end = (size_t)(head_end - answer->bytes) + 4 + body;
      if (answer->length >= answer->end) return READY;
    }
    size_t room = sizeof answer->bytes - 1 - answer->length;
    if (room == 0) return BROKEN;
    int count = SSL_read(tls, answer->bytes + answer->length, (int)room);
    if (count <= 0) return after(tls, count);
    answer->length += (size_t)count;
  }
}

void next_answer(struct answer *answer) {
  memmove(answer->bytes, answer->bytes + answer->end, answer->length - answer->end);
  answer->length -= answer->end;
}

bool nonce_of(const struct answer *answer, char nonce[65]) {
  const char *start = strstr(answer->bytes, "\"nonce\":\"");
  if (!start || strlen(start) < 9 + 64) return false;
  memcpy(nonce, start + 9, 64);
  nonce[64] = 0;
  return true;
}

/* ---- devices */

size_t load_devices(const char *path, struct device *devices, size_t room, uint32_t counter) {
  FILE *list = fopen(path, "r");
  if (!list) fail("the list of devices cannot be read");
  size_t count = 0;
  char key_path[512];
  while (count < room && fscanf(list, "%63s %511s", devices[count].key_id, key_path) == 2) {
    FILE *file = fopen(key_path, "r");
    devices[count].key = file ? PEM_read_PrivateKey(file, NULL, NULL, NULL) : NULL;
    if (!devices[count].key) fail("a device's key cannot be read");
    fclose(file);
    devices[count].counter = counter;
    count++;
  }
  fclose(list);
  return count;
}

void app_hash_of(const char *app_id, unsigned char hash[32]) {
  SHA256((const unsigned char *)app_id, strlen(app_id), hash);
}

static void bytes_of(const char *hexadecimal, unsigned char *bytes, size_t count) {
  for (size_t index = 0; index < count; index++) sscanf(hexadecimal + 2 * index, "%2hhx", &bytes[index]);
}

/* ECDSA over SHA-256 of SHA-256(data, SHA-256(nonce)): Apple, "Validating Apps", assertions. */
static size_t sign(EVP_PKEY *key, const unsigned char data[37], const unsigned char nonce[32],
                   unsigned char signature[80]) {
  unsigned char both[37 + 32], bound[32];
  memcpy(both, data, 37);
  SHA256(nonce, 32, both + 37);
  SHA256(both, sizeof both, bound);
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  size_t length = 80;
  if (!context || EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key) != 1 ||
      EVP_DigestSign(context, signature, &length, bound, sizeof bound) != 1)
    fail("signing");
  EVP_MD_CTX_free(context);
  return length;
}

/* The CBOR map {"signature": …, "authenticatorData": …}. */
static size_t write_assertion(unsigned char *cbor, const unsigned char data[37], const unsigned char *signature,
                              size_t length) {
  unsigned char *next = cbor;
  *next++ = 0xA2;
  *next++ = 0x69;
  next = (unsigned char *)mempcpy(next, "signature", 9);
  *next++ = 0x58;
  *next++ = (unsigned char)length;
  next = (unsigned char *)mempcpy(next, signature, length);
  *next++ = 0x71;
  next = (unsigned char *)mempcpy(next, "authenticatorData", 17);
  *next++ = 0x58;
  *next++ = 37;
  next = (unsigned char *)mempcpy(next, data, 37);
  return (size_t)(next - cbor);
}

size_t write_upgrade(char *text, size_t room, struct device *device, const unsigned char app_hash[32],
                     const char *nonce, bool is_forged, const char *more_fields) {
  unsigned char data[37], nonce_bytes[32], cbor[256];
  static unsigned char signature[80];
  static size_t length;
  device->counter++;
  memcpy(data, app_hash, 32);
  data[32] = 0x40;
  for (int index = 0; index < 4; index++) data[33 + index] = (unsigned char)(device->counter >> (24 - 8 * index));
  bytes_of(nonce, nonce_bytes, 32);
  /* A forger signs once, as any signature of the right form costs the verifier the same. */
  if (!is_forged || length == 0) length = sign(device->key, data, nonce_bytes, signature);
  if (is_forged) data[36] ^= 1;
  unsigned char encoded[400];
  EVP_EncodeBlock(encoded, cbor, (int)write_assertion(cbor, data, signature, length));
  int written = snprintf(text, room,
                         "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                         "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                         "X-App-Assert-KeyId: %s\r\nX-App-Assert-Data: %s\r\nX-App-Assert-Nonce: %s\r\n%s\r\n",
                         device->key_id, (char *)encoded, nonce, more_fields);
  if (written < 0 || (size_t)written >= room) fail("an upgrade does not fit");
  return (size_t)written;
}
