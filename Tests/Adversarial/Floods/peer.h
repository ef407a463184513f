/* What the flood's programs share: sockets from chosen addresses, time, TLS without waiting, HTTP, admissions. */
#pragma once

#include <netinet/in.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- time and numbers */

uint64_t now_ns(void);
/* CPU time of this process. */
uint64_t cpu_ns(void);
/* Ends the program with a message. */
_Noreturn void fail(const char *what);
/* The value of `--name` among the arguments, or `otherwise`; without one the option must be there. */
const char *option(int argc, char **argv, const char *name, const char *otherwise);

/* ---- sockets */

struct network {
  struct sockaddr_in target;
  /* Sources are spread over 127.<second>.0.0/16. */
  unsigned second;
  unsigned turn;
};

struct network network_of(int argc, char **argv, const char *second);
/* A socket on its way to the target, from the next source address; -1 when there is none. */
int dial(struct network *network);
/* Closes with RST, so that nothing of the connection stays behind. */
void drop(int descriptor);
/* Watches for reading, and for writing too if asked. */
void watch(int epoll, int descriptor, void *owner, bool writing, bool is_new);

/* ---- TLS */

enum progress { GOES_ON, READY, BROKEN };

SSL_CTX *client_context(void);
SSL *client_session(SSL_CTX *context, int descriptor);
enum progress shake_hands(SSL *tls);
/* Everything or BROKEN: what these programs write fits into a socket's buffer, unless `written` is asked for. */
enum progress send_all(SSL *tls, const void *bytes, size_t length);

/* ---- HTTP */

struct answer {
  char bytes[4096];
  size_t length;
  int status;
  /* Of the head and body together, once READY; what lies behind it belongs to the session. */
  size_t end;
};

/* Reads what there is; READY when the whole answer is there. */
enum progress receive_answer(SSL *tls, struct answer *answer);
/* Forgets an answer that was read. */
void next_answer(struct answer *answer);
/* The nonce of a challenge as hexadecimal; false when there is none. */
bool nonce_of(const struct answer *answer, char nonce[65]);

/* ---- devices */

struct device {
  char key_id[64];
  EVP_PKEY *key;
  uint32_t counter;
  bool is_busy;
};

/* From a file of lines "<key id> <path of the private key>"; returns how many. */
size_t load_devices(const char *path, struct device *devices, size_t room, uint32_t counter);
/* An upgrade with the device's next assertion, or with a signature over something else; returns its length. */
size_t write_upgrade(char *text, size_t room, struct device *device, const unsigned char app_hash[32],
                     const char *nonce, bool is_forged, const char *more_fields);
void app_hash_of(const char *app_id, unsigned char hash[32]);
