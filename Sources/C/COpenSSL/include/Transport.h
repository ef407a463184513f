// The one BIO between OpenSSL and a socket, and the server-side callbacks that OpenSSL wants as C functions.
#pragma once
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stddef.h>
#include <stdint.h>

#include "Bounds.h"

// What OpenSSL has encrypted in this turn, not yet handed to the kernel. One for each event loop.
struct portcullis_outbox {
  uint8_t *bytes;
  size_t count;
  size_t capacity;
};
struct portcullis_outbox *portcullis_outbox_new(size_t capacity);
void portcullis_outbox_free(struct portcullis_outbox *outbox);
// Gives memory beyond `capacity` back, and empties it.
void portcullis_outbox_reset(struct portcullis_outbox *outbox, size_t capacity);

// Beneath one SSL: reads come from `descriptor` (or, when that is -1, from bytes fed by hand),
// writes always go to `outbox` and never fail short of memory.
struct portcullis_transport {
  int descriptor;
  int error;  // errno of a failed read, 0 if none
  uint8_t dry;  // the last read took all there was: another one would only return EAGAIN
  uint8_t hangup;  // a FIN is on its way: a short read proves nothing
  uint8_t ended;  // the peer's FIN was read
  SSL *ssl;
  struct portcullis_bounds bounds;
  struct portcullis_outbox *outbox;
  const uint8_t *fed;
  size_t fed_count;
};
// Creates the BIO, gives it to `ssl` for both directions, and returns its transport, which lives as long as `ssl`.
// `is_bounded`: what the peer may cost is bounded (Bounds.h).
struct portcullis_transport *portcullis_transport_attach(SSL *ssl, int descriptor, struct portcullis_outbox *outbox,
                                                        int is_bounded);

// Session-ticket keys: `name` 16, `aes` 32 and `hmac` 32 bytes. Rotation keeps the previous key for decryption.
struct portcullis_ticket_keys;
struct portcullis_ticket_keys *portcullis_ticket_keys_new(void);
void portcullis_ticket_keys_free(struct portcullis_ticket_keys *keys);
int portcullis_ticket_keys_rotate(struct portcullis_ticket_keys *keys);  // 1, or 0 when randomness failed

// Server settings of docs/protocol-connections.md, "TLS" that need callbacks: ALPN http/1.1, ticket keys, and a client certificate
// that is judged but never breaks the handshake.
int portcullis_context_install(SSL_CTX *context, struct portcullis_ticket_keys *keys, int ask_for_certificate);

static inline long portcullis_context_set_minimum(SSL_CTX *context, int version) {
  return SSL_CTX_set_min_proto_version(context, version);
}
static inline long portcullis_context_set_maximum(SSL_CTX *context, int version) {
  return SSL_CTX_set_max_proto_version(context, version);
}
static inline long portcullis_context_set_groups(SSL_CTX *context, const char *groups) {
  return SSL_CTX_set1_groups_list(context, groups);
}
static inline long portcullis_ssl_set_server_name(SSL *ssl, const char *name) {
  return SSL_set_tlsext_host_name(ssl, name);
}
// Empties this thread's error queue. Clearing walks all its places, so an empty one, as before almost every call, is
// only looked at.
static inline void portcullis_clear_errors(void) {
  if (ERR_peek_error() != 0) ERR_clear_error();
}
// How the last failed call on this thread failed, as OpenSSL's packed code; the queue is left empty.
static inline unsigned long portcullis_take_error(void) {
  unsigned long error = ERR_peek_last_error();
  ERR_clear_error();
  return error;
}
