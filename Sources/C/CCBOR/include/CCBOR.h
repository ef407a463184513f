// libcbor's streaming decoder (cbor_stream_decode), the only part of it that is used: it allocates nothing.
#pragma once
#include <cbor.h>
#include <stddef.h>
#include <stdint.h>

// What one head says (RFC 8949 §3), without regard to how long it was written.
enum portcullis_cbor_kind {
  PORTCULLIS_CBOR_UNSIGNED,
  PORTCULLIS_CBOR_NEGATIVE,  // -1 - argument
  PORTCULLIS_CBOR_BYTES,     // argument: length; the content ends where the item ends
  PORTCULLIS_CBOR_TEXT,
  PORTCULLIS_CBOR_ARRAY,  // argument: elements that follow
  PORTCULLIS_CBOR_MAP,    // argument: pairs that follow
  PORTCULLIS_CBOR_TAG,
  PORTCULLIS_CBOR_FLOAT,
  PORTCULLIS_CBOR_SIMPLE,
  PORTCULLIS_CBOR_INDEFINITE,  // the start of a string, array or map of unknown length
  PORTCULLIS_CBOR_BREAK,
};

struct portcullis_cbor_item {
  enum portcullis_cbor_kind kind;
  uint64_t argument;
  size_t length;  // of head and, for strings, content
};

// The item that starts at `bytes`: 0, or -1 when it is malformed, or -2 when it is longer than `count`.
int portcullis_cbor_decode(const uint8_t *bytes, size_t count, struct portcullis_cbor_item *item);
