// What a peer's TLS messages may cost beyond the data that they bring (docs/protocol-connections.md, "TLS").
//
// OpenSSL works through all that it is handed until a record holds data, and answers KeyUpdates and attempts to
// renegotiate meanwhile. So these bounds stand where bytes are handed to it, and in what it calls for each message.
#pragma once
#include <openssl/ssl.h>
#include <stddef.h>
#include <stdint.h>

enum {
  // Ciphertext since the last data, or before the handshake's end: four whole records, two of which would be a
  // ClientHello and the one after a HelloRetryRequest, a third a chain of certificates, each as long as may be.
  PORTCULLIS_IDLE_BYTES = 64 * 1024,
  // Handshake messages since the last data; BoringSSL and rustls allow as many. Each costs 10 to 25 µs.
  PORTCULLIS_IDLE_MESSAGES = 32,
  // A handshake message with its header: what OpenSSL's buffer for one has room for from the beginning.
  PORTCULLIS_MESSAGE_BYTES = 16 * 1024,
  // A client's chain: a leaf and three more with 4,096 bits of RSA each. A certificate takes some 0.13 ms to read, good or
  // bad, and the small ones that fit in here 2 ms.
  PORTCULLIS_CHAIN_BYTES = 8 * 1024,
  // A message's share of a turn, in bytes whose decryption would take about as long or less.
  PORTCULLIS_MESSAGE_COST = 2 * 1024,
};

enum portcullis_excess {
  PORTCULLIS_NO_EXCESS,
  PORTCULLIS_TOO_MUCH_CIPHERTEXT,
  PORTCULLIS_TOO_MANY_MESSAGES,
  PORTCULLIS_RENEGOTIATION,
  PORTCULLIS_MESSAGE_TOO_LONG,
  PORTCULLIS_HELLO_TOO_DEAR,
};

struct portcullis_bounds {
  int64_t allowance;  // bytes of ciphertext left for this turn; its last read may exceed it by a record
  uint32_t idle_bytes;  // since the last data, or since the beginning
  uint16_t idle_messages;
  uint8_t applies;  // to a peer of the gate's; the project's own clients read without bounds
  uint8_t excess;  // which bound was reached: nothing is read any more
  uint8_t withheld;  // the last read was told to come again only because the allowance was used up
  uint8_t shaking;  // the handshake goes on
  // While its messages come in the clear: the headers of the record and of the message at hand, how much
  // of them was seen, and how much of what they announce is to come.
  uint8_t judging;
  uint8_t record_seen, message_seen;
  uint8_t record_header[5], message_header[4];
  uint16_t record_left;
  uint32_t message_left;
};

// Whether OpenSSL may be handed more. If not, `excess` or `withheld` says why.
int portcullis_bounds_allow(struct portcullis_bounds *bounds);
// Counts what it is about to be handed; false when it must not be, because a message is announced as too long.
int portcullis_bounds_take(struct portcullis_bounds *bounds, const SSL *ssl, const uint8_t *bytes, size_t count);
// An info callback's part: a message behind the handshake's end, or an alert. OpenSSL calls it for no data.
void portcullis_bounds_note(struct portcullis_bounds *bounds, SSL *ssl, int where, int value);

static inline void portcullis_bounds_begin_turn(struct portcullis_bounds *bounds, int64_t allowance) {
  bounds->allowance = allowance;
  bounds->withheld = 0;
}
// Data came, or the handshake's end, at a cost of its own beside its bytes.
static inline void portcullis_bounds_progress(struct portcullis_bounds *bounds, int64_t cost) {
  bounds->allowance -= cost;
  bounds->idle_bytes = 0;
  bounds->idle_messages = 0;
}
