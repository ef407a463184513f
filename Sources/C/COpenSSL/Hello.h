// What a ClientHello may have OpenSSL keep and seek (docs/protocol-connections.md, "TLS").
//
// OpenSSL bounds none of its lists: in 16 KiB 3,950 empty names of authorities become 730 KiB that stay as long as the
// connection does, 1,600 key shares are each sought in 4,000 groups, and 420 tickets are decrypted.
#pragma once
#include <openssl/ssl.h>

enum {
  // All suites that there are, as scanners send them, and half as much again; clients send 60 bytes.
  PORTCULLIS_HELLO_SUITE_BYTES = 1024,
  // A list with its length: 255 groups. Clients send some 60 bytes.
  PORTCULLIS_HELLO_LIST_BYTES = 512,
  // Names of authorities, which clients seldom send, and responders of OCSP, which none does.
  PORTCULLIS_HELLO_OBJECT_BYTES = 128,
  // Key shares, and pre-shared keys. Clients send one or two, and one for each ticket of which the gate gives one.
  PORTCULLIS_HELLO_KEYS = 8,
};

// Within the callback of SSL_CTX_set_client_hello_cb: before OpenSSL reads any of its extensions.
int portcullis_hello_is_cheap(SSL *ssl);
