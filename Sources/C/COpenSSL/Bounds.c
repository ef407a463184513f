// The bounds declared in Bounds.h.
#include "Bounds.h"

int portcullis_bounds_allow(struct portcullis_bounds *bounds) {
  if (!bounds->applies) return 1;
  if (!bounds->excess && bounds->idle_bytes >= PORTCULLIS_IDLE_BYTES) bounds->excess = PORTCULLIS_TOO_MUCH_CIPHERTEXT;
  if (bounds->excess) return 0;
  bounds->withheld = bounds->allowance <= 0;
  return !bounds->withheld;
}

static void begin_record(struct portcullis_bounds *bounds, const SSL *ssl) {
  const uint8_t *header = bounds->record_header;
  bounds->record_seen = 0;
  bounds->record_left = (uint16_t)(header[3] << 8 | header[4]);
  // In TLS 1.2 everything behind it is encrypted; in 1.3 it means nothing, and a second ClientHello may follow. Before
  // a version is chosen OpenSSL names the highest one.
  if (header[0] == SSL3_RT_CHANGE_CIPHER_SPEC && SSL_version(ssl) < TLS1_3_VERSION) bounds->judging = 0;
}

// A header announces its message's length, upon which OpenSSL 3.0 takes memory for the whole message, up to 131,396
// bytes for a ClientHello: so it is judged before. What comes encrypted is bounded by SSL_CTX_set_max_cert_list.
static int announces_too_much(struct portcullis_bounds *bounds, const SSL *ssl, const uint8_t *bytes, size_t count) {
  const uint8_t *end = bytes + count;
  while (bytes < end && bounds->judging) {
    if (bounds->record_left == 0) {
      bounds->record_header[bounds->record_seen++] = *bytes++;
      if (bounds->record_seen == sizeof bounds->record_header) begin_record(bounds, ssl);
      continue;
    }
    size_t taken = (size_t)(end - bytes);
    if (taken > bounds->record_left) taken = bounds->record_left;
    if (bounds->record_header[0] == SSL3_RT_HANDSHAKE) {
      if (bounds->message_left > 0) {
        if (taken > bounds->message_left) taken = bounds->message_left;
        bounds->message_left -= (uint32_t)taken;
      } else {
        const uint8_t *header = bounds->message_header;
        taken = 1;
        bounds->message_header[bounds->message_seen++] = *bytes;
        if (bounds->message_seen == sizeof bounds->message_header) {
          bounds->message_seen = 0;
          bounds->message_left = (uint32_t)header[1] << 16 | (uint32_t)header[2] << 8 | header[3];
          if (bounds->message_left > PORTCULLIS_MESSAGE_BYTES - sizeof bounds->message_header) return 1;
        }
      }
    }
    bounds->record_left -= (uint16_t)taken;
    bytes += taken;
  }
  return 0;
}

int portcullis_bounds_take(struct portcullis_bounds *bounds, const SSL *ssl, const uint8_t *bytes, size_t count) {
  if (!bounds->applies) return 1;
  bounds->allowance -= (int64_t)count;
  bounds->idle_bytes += (uint32_t)count;
  if (!bounds->judging || !announces_too_much(bounds, ssl, bytes, count)) return 1;
  bounds->excess = PORTCULLIS_MESSAGE_TOO_LONG;
  return 0;
}

void portcullis_bounds_note(struct portcullis_bounds *bounds, SSL *ssl, int where, int value) {
  if (bounds->shaking) return;
  if (where == SSL_CB_WRITE_ALERT && value == (SSL3_AL_WARNING << 8 | SSL_AD_NO_RENEGOTIATION)) {
    bounds->excess = PORTCULLIS_RENEGOTIATION;
  } else if (where == SSL_CB_ACCEPT_LOOP && SSL_get_state(ssl) == TLS_ST_SR_KEY_UPDATE) {
    // Once for each: the one message that a client may send now, as any other is fatal (RFC 8446 §4.6).
    bounds->allowance -= PORTCULLIS_MESSAGE_COST;
    if (++bounds->idle_messages > PORTCULLIS_IDLE_MESSAGES) bounds->excess = PORTCULLIS_TOO_MANY_MESSAGES;
  }
  // As if close_notify had come: what is buffered behind it is thrown away.
  if (bounds->excess) SSL_set_shutdown(ssl, SSL_get_shutdown(ssl) | SSL_RECEIVED_SHUTDOWN);
}
