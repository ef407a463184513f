// The load generator: one thread, epoll, and OpenSSL as a client; the same for every contestant.
#pragma once
#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "../common/common.h"

enum { MAXIMUM_EVENTS = 256, SCRATCH = 1 << 18, OUTSTANDING = 1024, PAYLOAD = 64 };

enum protocol {
  PLAIN,      // TCP: the way without any gate
  TLS_ONLY,   // bytes in TLS: HAProxy and the floor programs
  WEBSOCKET,  // messages in WebSocket in TLS
  ADMITTED,   // the same, with an App Attest assertion on the upgrade
};

struct settings {
  enum protocol protocol;
  uint16_t port;
  const char *keys;  // a folder made by `load keys`
};

enum stage { CONNECTING, SECURING, ASKING, UPGRADING, OPEN, LEAVING, CLOSED };

struct session {
  int descriptor;
  SSL *tls;
  enum stage stage;
  uint32_t events;
  int number;
  char *head;  // an HTTP response that is not whole yet
  size_t head_count;
  char *request;  // what is sent once the connection stands
  uint64_t started;

  // Frames from the server.
  unsigned char frame_head[10];
  int frame_head_count;
  uint64_t payload_left;
  int opcode;
  unsigned char control[125];
  int control_count;

  // Messages under way: when each was due, and how far its echo has come.
  uint64_t *due;
  unsigned due_first, due_count;
  uint64_t sent, received;  // messages
  uint64_t bytes_received;  // payload
};

struct load {
  struct settings settings;
  SSL_CTX *tls;
  int poller;
  struct session *sessions;
  int count;
  unsigned char scratch[SCRATCH];
};
extern struct load load;

// ---- sessions.c: from the connect to an open session
void open_sessions(int count, int at_once);
void close_sessions(void);
// A connection of its own, whose first `request` goes out as soon as TLS stands.
void start_session(struct session *session, int number, uint32_t source, char *request);
// Takes the next steps until something has to be waited for.
void advance(struct session *session);
// The response's head and body once whole (the caller frees nothing), else NULL; sets `*status`.
const char *take_response(struct session *session, int *status);
void end_session(struct session *session);
void watch_session(struct session *session, uint32_t events);
// Bytes into `load.scratch`, 0 when there are none now, -1 at the end.
int read_some(struct session *session);
bool more_waits(struct session *session);
void write_all(struct session *session, const unsigned char *data, size_t count);
// Addresses of 127.0.0.0/8, `each` sessions from one, as limits count by address.
uint32_t source_address(int number, int each);
char *upgrade_request(const char *fields);

// ---- frames.c: WebSocket from the client's side
size_t client_frame(unsigned char *out, int opcode, const unsigned char *payload, size_t count);
typedef void payload_taker(struct session *session, const unsigned char *data, size_t count);
void take_frames(struct session *session, const unsigned char *data, size_t count, payload_taker *taker);
// Reads what there is, and gives the payload to `taker`, with frames or without as the protocol has it.
void take_input(struct session *session, payload_taker *taker);

// ---- traffic.c: what goes through open sessions
void run_echo(double seconds, double rate);
void run_bulk(uint64_t bytes_each);

// ---- admissions.c
void fetch_challenges(int count);
void run_admissions(int at_once);
void run_challenges(int count, int at_once);
void invent_challenges(int count);
void write_nonces(const char *path);
void run_posts(const char *path, int at_once);

// ---- device.c: keys that App Attest might have made
void make_keys(const char *folder, int count, const char *app);
void load_keys(const char *folder);
// The three header fields of the next assertion of key `number`, over a challenge's 64 digits; to be freed.
char *assertion_fields(int number, const char *nonce);

// ---- samples.c: latencies
void samples_reset(void);
void sample(uint64_t nanoseconds);
// Writes `"count": …, "p50_us": …` and so on, without braces.
void samples_print(FILE *out);
