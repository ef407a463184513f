// The server's side of RFC 6455, as much as the game needs, and buffers that grow.
#define _GNU_SOURCE
#include "websocket.h"

#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/common.h"

void bytes_append(struct bytes *bytes, const unsigned char *data, size_t count) {
  if (count == 0) return;
  if (bytes->count + count > bytes->capacity) {
    bytes->capacity = (bytes->count + count) * 2;
    bytes->data = realloc(bytes->data, bytes->capacity);
    if (bytes->data == NULL) die("realloc");
  }
  memcpy(bytes->data + bytes->count, data, count);
  bytes->count += count;
}

void bytes_drop(struct bytes *bytes, size_t count) {
  bytes->count -= count;
  memmove(bytes->data, bytes->data + count, bytes->count);
}

void bytes_free(struct bytes *bytes) {
  free(bytes->data);
  *bytes = (struct bytes){0};
}

bool parse_frame(unsigned char *data, size_t count, struct frame *frame) {
  if (count < 6) return false;
  frame->opcode = data[0] & 0x0F;
  size_t head = 2;
  frame->count = data[1] & 0x7F;
  if (frame->count == 126) {
    frame->count = (size_t)data[2] << 8 | data[3];
    head = 4;
  } else if (frame->count == 127) {
    die("a frame of more than 64 KiB");
  }
  bool is_masked = data[1] & 0x80;
  if (count < head + (is_masked ? 4 : 0) + frame->count) return false;
  frame->mask = is_masked ? data + head : NULL;
  frame->payload = data + head + (is_masked ? 4 : 0);
  return true;
}

void unmask(struct frame *frame) {
  if (frame->mask == NULL) return;
  for (size_t index = 0; index < frame->count; index++) frame->payload[index] ^= frame->mask[index & 3];
}

size_t frame_head(unsigned char *head, size_t count) {
  head[0] = 0x82;
  if (count < 126) {
    head[1] = (unsigned char)count;
    return 2;
  }
  if (count > 0xFFFF) die("a frame of more than 64 KiB");
  head[1] = 126;
  head[2] = (unsigned char)(count >> 8);
  head[3] = (unsigned char)count;
  return 4;
}

size_t upgrade(const unsigned char *data, size_t count, char *answer, size_t capacity) {
  const unsigned char *end = memmem(data, count, "\r\n\r\n", 4);
  if (end == NULL) return 0;
  char head[4096];
  size_t length = (size_t)(end - data) + 4;
  if (length >= sizeof head) die("an opening handshake of %zu bytes", length);
  memcpy(head, data, length);
  head[length] = 0;
  const char *field = strcasestr(head, "\r\nSec-WebSocket-Key:");
  if (field == NULL) die("an opening handshake without a key");
  field += strlen("\r\nSec-WebSocket-Key:");
  field += strspn(field, " ");
  char joined[128];
  snprintf(joined, sizeof joined, "%.24s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", field);
  unsigned char digest[SHA_DIGEST_LENGTH], text[32];
  SHA1((unsigned char *)joined, strlen(joined), digest);
  EVP_EncodeBlock(text, digest, sizeof digest);
  snprintf(answer, capacity,
           "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
           "Sec-WebSocket-Accept: %s\r\n\r\n",
           text);
  return length;
}
