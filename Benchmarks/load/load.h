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
  RESUMABLE,  // the same in portcullis.v1
};

struct settings {
  enum protocol protocol;
  uint16_t port;
  const char *keys;  // a folder made by `load keys`
};

enum stage { CONNECTING, SECURING, ASKING, UPGRADING, GREETING, OPEN, LEAVING, CLOSED };

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
  // portcullis.v1: a TEXT message that is not whole yet, and what was received since the last `ack`.
  char *text;
  size_t text_count;
  unsigned unacknowledged, unacknowledged_bytes;
  uint64_t ack_due;

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
char *upgrade_request(int number, const char *fields);

// ---- frames.c: WebSocket from the client's side
size_t client_frame(unsigned char *out, int opcode, const unsigned char *payload, size_t count);
typedef void payload_taker(struct session *session, const unsigned char *data, size_t count);
void take_frames(struct session *session, const unsigned char *data, size_t count, payload_taker *taker);
// Reads what there is, and gives the payload to `taker`, with frames or without as the protocol has it.
void take_input(struct session *session, payload_taker *taker);

// ---- stays.c: portcullis.v1 as an app speaks it
enum { STAY_FIELDS = 512 };
// What an upgrade says of it: the stay that the app goes on with, if there is one.
void stay_fields(int number, char out[STAY_FIELDS]);
// A piece of a TEXT message, and its end: what belongs to the game goes to `taker`.
void take_text(struct session *session, const unsigned char *data, size_t count);
void end_text(struct session *session, payload_taker *taker);
// A message that counts: its bytes, its end.
void note_bytes(struct session *session, size_t count);
void note_message(struct session *session);
// The app has sent one.
void note_sent(struct session *session);
// Says what has waited for five seconds; or all, as an app does that was idle for so long.
void acknowledge(bool all);
// The nonce by which it is resumed without a challenge, 64 digits.
const char *next_nonce(int number);
// It is over: the next upgrade begins another one.
void forget_stay(int number);
void run_detach(int count, int at_once);
void cut_sessions(void);
void agree_on_events(void);

// ---- traffic.c: what goes through open sessions
enum content {
  BYTES,   // 64 bytes
  LINES,   // the same as text that ends a line
  EVENTS,  // as a message of GMCP, 64 bytes on the game's side
};
void run_echo(enum content content, double seconds, double rate);
void begin_run(enum content content);
void send_message(struct session *session, uint64_t due);
void take_echo(struct session *session, const unsigned char *data, size_t count);
// Waits until `moment`, or for ever when it is 0, and takes what has come. False when ten seconds brought
// nothing.
bool wait_until(uint64_t moment, payload_taker *taker);
void run_bulk(uint64_t bytes_each);

// ---- admissions.c
void fetch_challenges(int count);
// Each comes, and goes with `code`: 1001 leaves its stay. Over the challenges, or by the nonce of its own stay.
void run_admissions(int at_once, int code, bool by_next);
// For `purpose`, or, where it is NULL, as the door asks for them; `each` of one connection, or as many as usual for 0.
void run_challenges(int count, int at_once, const char *purpose, int each);
void invent_challenges(int count, bool told);
void write_nonces(const char *path);
// A file of JSON bodies, one a line, to a path of the gate's.
void run_posts(const char *name, int at_once, const char *path);

// ---- decisions.c
// What a file says of phones and of the service.
void read_phones(const char *path);
// The service asks; the phones' decisions are made and kept.
void run_asks(int count, int at_once);
// At `rate` a second, or, where it is 0, in a closed loop.
void run_decisions(int at_once, double rate);

// ---- device.c: keys that App Attest might have made
void make_keys(const char *folder, int count, const char *app);
// Session number 0 gets key number `first`.
void load_keys(const char *folder, int first);
// The three header fields of the next assertion of key `number`, over a challenge's 64 digits; to be freed.
char *assertion_fields(int number, const char *nonce);

// ---- samples.c: latencies
void samples_reset(void);
void sample(uint64_t nanoseconds);
// Writes `"count": …, "p50_us": …` and so on, without braces.
void samples_print(FILE *out);
