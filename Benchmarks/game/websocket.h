// The server's side of RFC 6455, as much as the game needs, and buffers that grow.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
  unsigned char *data;
  size_t count, capacity;
};
void bytes_append(struct bytes *bytes, const unsigned char *data, size_t count);
void bytes_drop(struct bytes *bytes, size_t count);
void bytes_free(struct bytes *bytes);

struct frame {
  unsigned char *payload;
  const unsigned char *mask;
  size_t count;
  int opcode;
};
// False while the frame is not whole.
bool parse_frame(unsigned char *data, size_t count, struct frame *frame);
void unmask(struct frame *frame);
// Writes the head of an unmasked, final, binary frame (RFC 6455, section 5.2) and returns its length.
size_t frame_head(unsigned char *head, size_t count);

// Answers an opening handshake that is whole; returns how many bytes it had, 0 while it is not whole.
size_t upgrade(const unsigned char *data, size_t count, char *answer, size_t capacity);
