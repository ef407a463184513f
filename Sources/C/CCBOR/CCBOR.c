#include "CCBOR.h"

static void note(void *context, enum portcullis_cbor_kind kind, uint64_t argument) {
  struct portcullis_cbor_item *item = context;
  item->kind = kind;
  item->argument = argument;
}

static void on_uint8(void *context, uint8_t value) { note(context, PORTCULLIS_CBOR_UNSIGNED, value); }
static void on_uint16(void *context, uint16_t value) { note(context, PORTCULLIS_CBOR_UNSIGNED, value); }
static void on_uint32(void *context, uint32_t value) { note(context, PORTCULLIS_CBOR_UNSIGNED, value); }
static void on_uint64(void *context, uint64_t value) { note(context, PORTCULLIS_CBOR_UNSIGNED, value); }
static void on_negint8(void *context, uint8_t value) { note(context, PORTCULLIS_CBOR_NEGATIVE, value); }
static void on_negint16(void *context, uint16_t value) { note(context, PORTCULLIS_CBOR_NEGATIVE, value); }
static void on_negint32(void *context, uint32_t value) { note(context, PORTCULLIS_CBOR_NEGATIVE, value); }
static void on_negint64(void *context, uint64_t value) { note(context, PORTCULLIS_CBOR_NEGATIVE, value); }
static void on_bytes(void *context, cbor_data bytes, size_t length) {
  (void)bytes;
  note(context, PORTCULLIS_CBOR_BYTES, length);
}
static void on_text(void *context, cbor_data bytes, size_t length) {
  (void)bytes;
  note(context, PORTCULLIS_CBOR_TEXT, length);
}
static void on_array(void *context, size_t count) { note(context, PORTCULLIS_CBOR_ARRAY, count); }
static void on_map(void *context, size_t count) { note(context, PORTCULLIS_CBOR_MAP, count); }
static void on_tag(void *context, uint64_t value) { note(context, PORTCULLIS_CBOR_TAG, value); }
static void on_float(void *context, float value) {
  (void)value;
  note(context, PORTCULLIS_CBOR_FLOAT, 0);
}
static void on_double(void *context, double value) {
  (void)value;
  note(context, PORTCULLIS_CBOR_FLOAT, 0);
}
static void on_simple(void *context) { note(context, PORTCULLIS_CBOR_SIMPLE, 0); }
static void on_boolean(void *context, bool value) { note(context, PORTCULLIS_CBOR_SIMPLE, value); }
static void on_indefinite(void *context) { note(context, PORTCULLIS_CBOR_INDEFINITE, 0); }
static void on_break(void *context) { note(context, PORTCULLIS_CBOR_BREAK, 0); }

static const struct cbor_callbacks callbacks = {
    .uint8 = on_uint8,
    .uint16 = on_uint16,
    .uint32 = on_uint32,
    .uint64 = on_uint64,
    .negint8 = on_negint8,
    .negint16 = on_negint16,
    .negint32 = on_negint32,
    .negint64 = on_negint64,
    .byte_string_start = on_indefinite,
    .byte_string = on_bytes,
    .string = on_text,
    .string_start = on_indefinite,
    .indef_array_start = on_indefinite,
    .array_start = on_array,
    .indef_map_start = on_indefinite,
    .map_start = on_map,
    .tag = on_tag,
    .float2 = on_float,
    .float4 = on_float,
    .float8 = on_double,
    .undefined = on_simple,
    .null = on_simple,
    .boolean = on_boolean,
    .indef_break = on_break,
};

int portcullis_cbor_decode(const uint8_t *bytes, size_t count, struct portcullis_cbor_item *item) {
  struct cbor_decoder_result result = cbor_stream_decode(bytes, count, &callbacks, item);
  switch (result.status) {
    case CBOR_DECODER_FINISHED:
      item->length = result.read;
      return 0;
    case CBOR_DECODER_NEDATA:
      return -2;
    default:
      return -1;
  }
}
