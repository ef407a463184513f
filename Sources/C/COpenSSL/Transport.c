// The BIO, the ticket keys and the callbacks declared in Transport.h.
#include "Transport.h"

#include "Hello.h"

#include <errno.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <openssl/x509_vfy.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

// ---- outbox

struct portcullis_outbox *portcullis_outbox_new(size_t capacity) {
  struct portcullis_outbox *outbox = calloc(1, sizeof *outbox);
  if (!outbox) return NULL;
  outbox->bytes = malloc(capacity);
  outbox->capacity = capacity;
  if (!outbox->bytes) {
    free(outbox);
    return NULL;
  }
  return outbox;
}
void portcullis_outbox_free(struct portcullis_outbox *outbox) {
  if (!outbox) return;
  free(outbox->bytes);
  free(outbox);
}
void portcullis_outbox_reset(struct portcullis_outbox *outbox, size_t capacity) {
  outbox->count = 0;
  if (outbox->capacity <= capacity) return;
  uint8_t *smaller = realloc(outbox->bytes, capacity);
  if (!smaller) return;
  outbox->bytes = smaller;
  outbox->capacity = capacity;
}

// ---- BIO

// What came from the peer, in the words of `transport_read`.
static int receive(BIO *bio, struct portcullis_transport *transport, char *into, int count) {
  if (transport->descriptor < 0) {
    if (transport->fed_count == 0) {
      if (transport->ended) return 0;
      BIO_set_retry_read(bio);
      return -1;
    }
    size_t take = transport->fed_count < (size_t)count ? transport->fed_count : (size_t)count;
    memcpy(into, transport->fed, take);
    transport->fed += take;
    transport->fed_count -= take;
    return (int)take;
  }
  if (transport->ended) return 0;
  if (transport->dry) {
    BIO_set_retry_read(bio);
    return -1;
  }
  ssize_t got;
  do got = recv(transport->descriptor, into, (size_t)count, 0);
  while (got < 0 && errno == EINTR);
  if (got > 0) {
    transport->dry = got < count && !transport->hangup;
    return (int)got;
  }
  if (got == 0) {
    transport->ended = 1;
    return 0;
  }
  if (errno == EAGAIN || errno == EWOULDBLOCK) {
    transport->dry = 1;
    BIO_set_retry_read(bio);
  } else {
    transport->error = errno;
  }
  return -1;
}

static int transport_write(BIO *bio, const char *bytes, int count) {
  struct portcullis_transport *transport = BIO_get_data(bio);
  struct portcullis_outbox *outbox = transport->outbox;
  BIO_clear_retry_flags(bio);
  if (count <= 0) return 0;
  size_t needed = outbox->count + (size_t)count;
  if (needed > outbox->capacity) {
    size_t capacity = outbox->capacity * 2 > needed ? outbox->capacity * 2 : needed;
    uint8_t *larger = realloc(outbox->bytes, capacity);
    if (!larger) return -1;
    outbox->bytes = larger;
    outbox->capacity = capacity;
  }
  memcpy(outbox->bytes + outbox->count, bytes, (size_t)count);
  outbox->count = needed;
  return count;
}

static int transport_read(BIO *bio, char *into, int count) {
  struct portcullis_transport *transport = BIO_get_data(bio);
  BIO_clear_retry_flags(bio);
  if (count <= 0) return 0;
  if (!portcullis_bounds_allow(&transport->bounds)) {
    if (transport->bounds.withheld) BIO_set_retry_read(bio);
    return -1;
  }
  int got = receive(bio, transport, into, count);
  if (got <= 0) return got;
  if (portcullis_bounds_take(&transport->bounds, transport->ssl, (const uint8_t *)into, (size_t)got)) return got;
  // In the clear, as is what it answers.
  static const char illegal_parameter[] = {SSL3_RT_ALERT, 3, 3, 0, 2, SSL3_AL_FATAL, SSL_AD_ILLEGAL_PARAMETER};
  transport_write(bio, illegal_parameter, sizeof illegal_parameter);
  return -1;
}

static long transport_control(BIO *bio, int command, long number, void *pointer) {
  (void)number;
  (void)pointer;
  struct portcullis_transport *transport = BIO_get_data(bio);
  switch (command) {
    case BIO_CTRL_FLUSH:
    case BIO_CTRL_PUSH:
    case BIO_CTRL_POP:
      return 1;
    case BIO_CTRL_EOF:
      return transport->ended;
    default:
      return 0;
  }
}

static int transport_create(BIO *bio) {
  struct portcullis_transport *transport = calloc(1, sizeof *transport);
  if (!transport) return 0;
  BIO_set_data(bio, transport);
  BIO_set_init(bio, 1);
  return 1;
}
static int transport_destroy(BIO *bio) {
  free(BIO_get_data(bio));
  BIO_set_data(bio, NULL);
  return 1;
}

static BIO_METHOD *method;
static pthread_once_t method_once = PTHREAD_ONCE_INIT;
static void make_method(void) {
  BIO_METHOD *made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "portcullis transport");
  if (!made) return;
  BIO_meth_set_read(made, transport_read);
  BIO_meth_set_write(made, transport_write);
  BIO_meth_set_ctrl(made, transport_control);
  BIO_meth_set_create(made, transport_create);
  BIO_meth_set_destroy(made, transport_destroy);
  method = made;
}

struct portcullis_transport *portcullis_transport_attach(SSL *ssl, int descriptor, struct portcullis_outbox *outbox,
                                                        int is_bounded) {
  pthread_once(&method_once, make_method);
  if (!method) return NULL;
  BIO *bio = BIO_new(method);
  if (!bio) return NULL;
  struct portcullis_transport *transport = BIO_get_data(bio);
  transport->descriptor = descriptor;
  transport->outbox = outbox;
  transport->ssl = ssl;
  transport->bounds.applies = (uint8_t)is_bounded;
  transport->bounds.shaking = transport->bounds.judging = 1;
  SSL_set_bio(ssl, bio, bio);
  return transport;
}

// ---- ticket keys (RFC 5077 §4 layout, AES-256-CBC with HMAC-SHA-256)

struct ticket_key {
  unsigned char name[16], aes[32], hmac[32];
};
struct portcullis_ticket_keys {
  pthread_mutex_t lock;
  struct ticket_key current, previous;
  int has_previous;
};

struct portcullis_ticket_keys *portcullis_ticket_keys_new(void) {
  struct portcullis_ticket_keys *keys = calloc(1, sizeof *keys);
  if (!keys) return NULL;
  pthread_mutex_init(&keys->lock, NULL);
  if (RAND_priv_bytes((unsigned char *)&keys->current, sizeof keys->current) != 1) {
    portcullis_ticket_keys_free(keys);
    return NULL;
  }
  return keys;
}
void portcullis_ticket_keys_free(struct portcullis_ticket_keys *keys) {
  if (!keys) return;
  pthread_mutex_destroy(&keys->lock);
  OPENSSL_cleanse(keys, sizeof *keys);
  free(keys);
}
int portcullis_ticket_keys_rotate(struct portcullis_ticket_keys *keys) {
  struct ticket_key fresh;
  if (RAND_priv_bytes((unsigned char *)&fresh, sizeof fresh) != 1) return 0;
  pthread_mutex_lock(&keys->lock);
  keys->previous = keys->current;
  keys->has_previous = 1;
  keys->current = fresh;
  pthread_mutex_unlock(&keys->lock);
  OPENSSL_cleanse(&fresh, sizeof fresh);
  return 1;
}

static int keys_index = -1;
static pthread_once_t keys_once = PTHREAD_ONCE_INIT;
static void make_index(void) { keys_index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, NULL); }

// Returns 1 to use the key, 2 to use it and issue a fresh ticket, 0 for no ticket, -1 on error.
static int ticket_key(SSL *ssl, unsigned char name[16], unsigned char *iv, EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac,
                      int encrypting) {
  struct portcullis_ticket_keys *keys = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), keys_index);
  if (!keys) return -1;
  struct ticket_key key;
  int verdict = 1;
  pthread_mutex_lock(&keys->lock);
  if (encrypting || CRYPTO_memcmp(name, keys->current.name, 16) == 0) {
    key = keys->current;
  } else if (keys->has_previous && CRYPTO_memcmp(name, keys->previous.name, 16) == 0) {
    key = keys->previous;
    verdict = 2;
  } else {
    verdict = 0;
  }
  pthread_mutex_unlock(&keys->lock);
  if (verdict == 0) return 0;
  if (encrypting) {
    // Who showed a certificate shows it again at the next handshake (docs/protocol-connections.md, "TLS"): an empty ticket in TLS
    // 1.2, none in 1.3, where the verify callback has set the count to zero.
    if (SSL_get0_peer_certificate(ssl) != NULL) {
      OPENSSL_cleanse(&key, sizeof key);
      return 0;
    }
    memcpy(name, key.name, 16);
    if (RAND_bytes(iv, 16) != 1) verdict = -1;
  }
  char digest[] = "SHA256";
  OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, key.hmac, sizeof key.hmac),
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
      OSSL_PARAM_construct_end(),
  };
  if (verdict > 0 && (EVP_CipherInit_ex(cipher, EVP_aes_256_cbc(), NULL, key.aes, iv, encrypting) != 1 ||
                      EVP_MAC_CTX_set_params(mac, parameters) != 1))
    verdict = -1;
  OPENSSL_cleanse(&key, sizeof key);
  return verdict;
}

// ---- client certificates and ALPN

// As long as 65,537, which everybody uses, and some more: with 3,072 bits of RSA an exponent as long takes 4.5 ms, a short
// one 0.05.
static int has_short_exponent(const EVP_PKEY *key) {
  BIGNUM *exponent = NULL;
  int is_short = EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_E, &exponent) == 1 && BN_num_bits(exponent) <= 32;
  BN_free(exponent);
  return is_short;
}

// Whether checking a signature by its key is cheap. A client proves that it has the key before anybody asks whether its
// chain is good, and 16,384 bits of RSA take 3 ms.
static int has_cheap_key(X509 *certificate) {
  EVP_PKEY *key = certificate ? X509_get0_pubkey(certificate) : NULL;
  if (!key) return 0;
  switch (EVP_PKEY_get_base_id(key)) {
    case EVP_PKEY_RSA:
    case EVP_PKEY_RSA_PSS:
      return EVP_PKEY_get_bits(key) <= 4096 && has_short_exponent(key);
    case EVP_PKEY_EC:
      return EVP_PKEY_get_bits(key) <= 521;
    case EVP_PKEY_ED25519:
    case EVP_PKEY_ED448:
      return 1;
    default:
      return 0;
  }
}

// Judges the chain, keeps the verdict (SSL_get_verify_result), and lets the handshake go on either way, unless that
// would cost too much.
static int judge_certificate(X509_STORE_CTX *chain, void *argument) {
  (void)argument;
  if (!has_cheap_key(X509_STORE_CTX_get0_cert(chain))) {
    ERR_clear_error();
    X509_STORE_CTX_set_error(chain, X509_V_ERR_CERT_REJECTED);
    return 0;
  }
  SSL *ssl = X509_STORE_CTX_get_ex_data(chain, SSL_get_ex_data_X509_STORE_CTX_idx());
  if (X509_verify_cert(chain) <= 0 && X509_STORE_CTX_get_error(chain) == X509_V_OK)
    X509_STORE_CTX_set_error(chain, X509_V_ERR_UNSPECIFIED);
  if (ssl) SSL_set_num_tickets(ssl, 0);
  ERR_clear_error();
  return 1;
}

static int select_protocol(SSL *ssl, const unsigned char **chosen, unsigned char *length, const unsigned char *offered,
                           unsigned int count, void *argument) {
  (void)ssl;
  (void)argument;
  static const unsigned char ours[] = "\x08http/1.1\x08http/1.0";
  unsigned char *match;
  if (SSL_select_next_proto(&match, length, ours, sizeof ours - 1, offered, count) != OPENSSL_NPN_NEGOTIATED)
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  *chosen = match;
  return SSL_TLSEXT_ERR_OK;
}

static void note_message(const SSL *ssl, int where, int value) {
  struct portcullis_transport *transport = BIO_get_data(SSL_get_rbio(ssl));
  if (transport) portcullis_bounds_note(&transport->bounds, transport->ssl, where, value);
}

// The first ClientHello, and the one behind a HelloRetryRequest.
static int judge_hello(SSL *ssl, int *alert, void *argument) {
  (void)argument;
  struct portcullis_transport *transport = BIO_get_data(SSL_get_rbio(ssl));
  if (!transport || !transport->bounds.applies || portcullis_hello_is_cheap(ssl)) return SSL_CLIENT_HELLO_SUCCESS;
  transport->bounds.excess = PORTCULLIS_HELLO_TOO_DEAR;
  *alert = SSL_AD_ILLEGAL_PARAMETER;
  return SSL_CLIENT_HELLO_ERROR;
}

int portcullis_context_install(SSL_CTX *context, struct portcullis_ticket_keys *keys, int ask_for_certificate) {
  pthread_once(&keys_once, make_index);
  if (keys_index < 0 || SSL_CTX_set_ex_data(context, keys_index, keys) != 1) return 0;
  if (SSL_CTX_set_tlsext_ticket_key_evp_cb(context, ticket_key) != 1) return 0;
  SSL_CTX_set_alpn_select_cb(context, select_protocol, NULL);
  SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE |
                                   SSL_OP_PRIORITIZE_CHACHA);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_read_ahead(context, 1);
  SSL_CTX_set_info_callback(context, note_message);
  SSL_CTX_set_client_hello_cb(context, judge_hello, NULL);
  SSL_CTX_set_max_cert_list(context, PORTCULLIS_CHAIN_BYTES);
  if (ask_for_certificate) {
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_cert_verify_callback(context, judge_certificate, NULL);
  }
  return 1;
}
