// A game's side of telnet, as much as GMCP needs (RFC 854).
#include "telnet.h"

#include <string.h>

enum { SE = 240, SB = 250, WILL = 251, DO = 253, IAC = 255, GMCP = 201 };

bool telnet_begins(struct telnet *telnet, const unsigned char *data, size_t count, unsigned char *offer) {
  static const char line[] = "WILL GMCP\r\n";
  if (telnet->is_spoken || count != sizeof line - 1 || memcmp(data, line, count) != 0) return false;
  telnet->is_spoken = true;
  memcpy(offer, (unsigned char[]){IAC, WILL, GMCP}, 3);
  return true;
}

// What the client says of itself is not for the players.
static size_t end_inside(struct telnet *telnet, unsigned char *out) {
  const struct bytes *inside = &telnet->inside;
  size_t count = inside->count;
  telnet->inside.count = 0;
  if (count > 6 && memcmp(inside->data + 1, "Core.", 5) == 0) return 0;
  out[0] = IAC;
  out[1] = SB;
  memcpy(out + 2, inside->data, count);
  out[count + 2] = IAC;
  out[count + 3] = SE;
  return count + 4;
}

size_t telnet_echo(struct telnet *telnet, const unsigned char *data, size_t count, unsigned char *out) {
  size_t made = 0;
  for (size_t index = 0; index < count; index++) {
    unsigned char byte = data[index];
    switch (telnet->state) {
    case TEXT:
      if (byte == IAC) telnet->state = COMMAND;
      else out[made++] = byte;
      break;
    case COMMAND:
      telnet->command = byte;
      telnet->state = byte == SB ? INSIDE : byte >= WILL ? OPTION : TEXT;
      break;
    case OPTION:
      telnet->state = TEXT;
      if (telnet->command == DO && byte == GMCP) {
        memcpy(out + made, "ready\r\n", 7);
        made += 7;
      }
      break;
    case INSIDE:
      if (byte == IAC) telnet->state = INSIDE_COMMAND;
      else bytes_append(&telnet->inside, &byte, 1);
      break;
    case INSIDE_COMMAND:
      telnet->state = TEXT;
      made += end_inside(telnet, out + made);
      break;
    }
  }
  return made;
}
