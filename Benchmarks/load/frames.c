// WebSocket from the client's side (RFC 6455, section 5): masked frames out, plain ones in, pings answered.
#include <string.h>

#include "load.h"

size_t client_frame(unsigned char *out, int opcode, const unsigned char *payload, size_t count) {
  static uint32_t mask = 0x9E3779B9;
  mask = mask * 1664525 + 1013904223;
  unsigned char key[4];
  memcpy(key, &mask, sizeof key);
  size_t head = 2;
  out[0] = (unsigned char)(0x80 | opcode);
  if (count < 126) {
    out[1] = (unsigned char)(0x80 | count);
  } else {
    out[1] = 0x80 | 126;
    out[2] = (unsigned char)(count >> 8);
    out[3] = (unsigned char)count;
    head = 4;
  }
  memcpy(out + head, key, sizeof key);
  for (size_t index = 0; index < count; index++) out[head + 4 + index] = payload[index] ^ key[index & 3];
  return head + 4 + count;
}

static size_t wanted_head(const struct session *session) {
  if (session->frame_head_count < 2) return 2;
  int length = session->frame_head[1] & 0x7F;
  return length == 127 ? 10 : length == 126 ? 4 : 2;
}

static void begin_payload(struct session *session) {
  const unsigned char *head = session->frame_head;
  size_t size = wanted_head(session);
  session->opcode = head[0] & 0x0F;
  session->payload_left = size == 2 ? head[1] & 0x7F : 0;
  for (size_t index = 2; index < size; index++)
    session->payload_left = session->payload_left << 8 | head[index];
  session->control_count = 0;
}

static void end_control(struct session *session) {
  if (session->opcode == 9) {
    unsigned char frame[140];
    write_all(session, frame, client_frame(frame, 10, session->control, (size_t)session->control_count));
  } else if (session->opcode == 8 && session->stage != LEAVING) {
    unsigned close = session->control_count >= 2 ? session->control[0] << 8 | session->control[1] : 0;
    die("session %d was closed with %u", session->number, close);
  }
}

static void end_frame(struct session *session, payload_taker *taker) {
  if (session->opcode >= 8) {
    end_control(session);
  } else if (load.settings.protocol == RESUMABLE) {
    if (session->opcode == 1) end_text(session, taker);
    else note_message(session);
  }
}

void take_frames(struct session *session, const unsigned char *data, size_t count, payload_taker *taker) {
  while (count > 0) {
    if (session->payload_left == 0) {
      session->frame_head[session->frame_head_count++] = *data++;
      count--;
      if ((size_t)session->frame_head_count < wanted_head(session)) continue;
      begin_payload(session);
      session->frame_head_count = 0;
      if (session->payload_left == 0) end_frame(session, taker);
      continue;
    }
    size_t part = session->payload_left < count ? (size_t)session->payload_left : count;
    if (session->opcode >= 8) {
      if (session->control_count + part > sizeof session->control) die("a control frame that is too long");
      memcpy(session->control + session->control_count, data, part);
      session->control_count += (int)part;
    } else if (load.settings.protocol == RESUMABLE && session->opcode == 1) {
      take_text(session, data, part);
    } else {
      if (load.settings.protocol == RESUMABLE) note_bytes(session, part);
      taker(session, data, part);
    }
    data += part;
    count -= part;
    session->payload_left -= part;
    if (session->payload_left == 0) end_frame(session, taker);
  }
}

void take_input(struct session *session, payload_taker *taker) {
  do {
    int count = read_some(session);
    if (count < 0) die("session %d was closed", session->number);
    if (count == 0) return;
    if (load.settings.protocol >= WEBSOCKET) {
      take_frames(session, load.scratch, (size_t)count, taker);
    } else {
      taker(session, load.scratch, (size_t)count);
    }
  } while (more_waits(session));
}
