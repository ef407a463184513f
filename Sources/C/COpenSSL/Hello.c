// The bounds declared in Hello.h.
#include "Hello.h"

#include <stddef.h>
#include <stdint.h>

// What OpenSSL makes a list of, or seeks each entry of another list in; of the first two it keeps an object of some 200
// bytes for each entry, of which four and six bytes are enough.
static const struct {
  unsigned type;
  size_t bytes;
} listed[] = {
    {TLSEXT_TYPE_certificate_authorities, PORTCULLIS_HELLO_OBJECT_BYTES},
    {TLSEXT_TYPE_status_request, PORTCULLIS_HELLO_OBJECT_BYTES},
    {TLSEXT_TYPE_supported_groups, PORTCULLIS_HELLO_LIST_BYTES},
    {TLSEXT_TYPE_signature_algorithms, PORTCULLIS_HELLO_LIST_BYTES},
    {TLSEXT_TYPE_signature_algorithms_cert, PORTCULLIS_HELLO_LIST_BYTES},
    {TLSEXT_TYPE_application_layer_protocol_negotiation, PORTCULLIS_HELLO_LIST_BYTES},
};

// How many entries begin in a list whose length, in two bytes, comes first: an entry has `before` bytes, a length in two
// bytes and as many behind it, and `after` bytes. What is malformed OpenSSL refuses by itself.
static size_t count_entries(const unsigned char *bytes, size_t length, size_t before, size_t after) {
  if (length < 2) return 0;
  size_t listed_bytes = (size_t)bytes[0] << 8 | bytes[1];
  size_t end = listed_bytes < length - 2 ? listed_bytes + 2 : length;
  size_t count = 0;
  for (size_t at = 2; at < end; count++) {
    if (end - at < before + 2) return count + 1;
    size_t inside = (size_t)bytes[at + before] << 8 | bytes[at + before + 1];
    at += before + 2 + inside + after;
  }
  return count;
}

int portcullis_hello_is_cheap(SSL *ssl) {
  const unsigned char *bytes;
  size_t length;
  if (SSL_client_hello_get0_ciphers(ssl, &bytes) > PORTCULLIS_HELLO_SUITE_BYTES) return 0;
  for (size_t at = 0; at < sizeof listed / sizeof *listed; at++)
    if (SSL_client_hello_get0_ext(ssl, listed[at].type, &bytes, &length) && length > listed[at].bytes) return 0;
  if (SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_key_share, &bytes, &length) &&
      count_entries(bytes, length, 2, 0) > PORTCULLIS_HELLO_KEYS)
    return 0;
  if (SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_psk, &bytes, &length) &&
      count_entries(bytes, length, 0, 4) > PORTCULLIS_HELLO_KEYS)
    return 0;
  return 1;
}
