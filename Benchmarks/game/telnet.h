// A game's side of telnet, as much as GMCP needs: negotiation is taken out, all else goes back as it came.
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "websocket.h"

struct telnet {
  bool is_spoken;
  enum { TEXT, COMMAND, OPTION, INSIDE, INSIDE_COMMAND } state;
  unsigned char command;
  struct bytes inside;  // of a subnegotiation
};

// Whether `data` is the line that asks for telnet; `*offer` is then what the game says, three bytes.
bool telnet_begins(struct telnet *telnet, const unsigned char *data, size_t count, unsigned char *offer);
// Writes what the game answers, which is not longer than the input and a few bytes; returns how much that is.
size_t telnet_echo(struct telnet *telnet, const unsigned char *data, size_t count, unsigned char *out);
