// zlib's raw deflate (RFC 1951), and its own format (RFC 1950) for reading. The initialisers are macros there.
#pragma once
#include <zlib.h>

static inline int portcullis_inflate_begin(z_stream *stream, int window_bits) {
  return inflateInit2(stream, -window_bits);
}

static inline int portcullis_inflate_begin_zlib(z_stream *stream) {
  return inflateInit(stream);
}

static inline int portcullis_deflate_begin(z_stream *stream, int level, int window_bits, int memory_level) {
  return deflateInit2(stream, level, Z_DEFLATED, -window_bits, memory_level, Z_DEFAULT_STRATEGY);
}
