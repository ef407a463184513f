/* A TLS client in memory whose records a test writes itself: what Python's ssl does not send. See records.py. */
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdint.h>
#include <stdlib.h>

struct client {
  SSL_CTX *context;
  SSL *tls;
  BIO *input, *output;
};

void records_close(struct client *client) {
  if (!client) return;
  SSL_free(client->tls);
  SSL_CTX_free(client->context);
  free(client);
}

/* `version` is the wire's number; records of TLS 1.3 are padded to a multiple of `padding` where that is not 0. */
struct client *records_open(int version, size_t padding) {
  struct client *client = calloc(1, sizeof *client);
  if (!client) return NULL;
  client->context = SSL_CTX_new(TLS_client_method());
  if (!client->context || SSL_CTX_set_min_proto_version(client->context, version) != 1 ||
      SSL_CTX_set_max_proto_version(client->context, version) != 1 ||
      (padding && SSL_CTX_set_block_padding(client->context, padding) != 1) ||
      !(client->tls = SSL_new(client->context))) {
    records_close(client);
    return NULL;
  }
  client->input = BIO_new(BIO_s_mem());
  client->output = BIO_new(BIO_s_mem());
  /* Nothing more to read is no end. */
  BIO_set_mem_eof_return(client->input, -1);
  SSL_set_bio(client->tls, client->input, client->output);
  SSL_set_connect_state(client->tls);
  return client;
}

/* 1 when it is through, 0 when it waits for the gate, -1 when it failed. */
int records_handshake(struct client *client) {
  ERR_clear_error();
  int result = SSL_do_handshake(client->tls);
  if (result == 1) return 1;
  return SSL_get_error(client->tls, result) == SSL_ERROR_WANT_READ ? 0 : -1;
}

void records_feed(struct client *client, const uint8_t *bytes, size_t count) {
  BIO_write(client->input, bytes, (int)count);
}
size_t records_waiting(struct client *client) { return BIO_ctrl_pending(client->output); }
size_t records_take(struct client *client, uint8_t *bytes, size_t room) {
  int count = BIO_read(client->output, bytes, (int)room);
  return count > 0 ? (size_t)count : 0;
}

/* The plaintext of what was fed; 0 when there is none, -1 at the end. */
int records_read(struct client *client, uint8_t *bytes, size_t room) {
  ERR_clear_error();
  int count = SSL_read(client->tls, bytes, (int)room);
  if (count > 0) return count;
  return SSL_get_error(client->tls, count) == SSL_ERROR_WANT_READ ? 0 : -1;
}

/* One record of each `size` bytes. */
int records_write(struct client *client, const uint8_t *bytes, size_t count, size_t size) {
  ERR_clear_error();
  for (size_t at = 0; at < count; at += size) {
    size_t part = count - at < size ? count - at : size, written;
    if (SSL_write_ex(client->tls, bytes + at, part, &written) != 1) return 0;
  }
  return 1;
}

int records_update_keys(struct client *client, size_t count, int requested) {
  ERR_clear_error();
  for (size_t done = 0; done < count; done++) {
    int kind = requested ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED;
    if (SSL_key_update(client->tls, kind) != 1 || SSL_do_handshake(client->tls) != 1) return 0;
  }
  return 1;
}

/* A ClientHello over the connection (TLS 1.2). */
int records_renegotiate(struct client *client) {
  ERR_clear_error();
  if (SSL_renegotiate(client->tls) != 1) return 0;
  SSL_do_handshake(client->tls);
  return 1;
}
