// The load generator's commands, one a line on standard input, each answered with one JSON line.
//
//   load keys FOLDER COUNT APP-ID            makes device keys and a key store with their public halves
//   load PROTOCOL PORT [FOLDER FIRST]        plain, tls, websocket, admitted, resumable; keys from number FIRST on
//     speak PROTOCOL                         from now on
//     open COUNT AT-ONCE | close             sessions; stays that were left are resumed
//     echo SECONDS RATE                      64-byte messages; rate 0 is a closed loop
//     lines SECONDS RATE                     the same as text
//     events SECONDS RATE                    the same as GMCP, once `agree` was said
//     acknowledge | cut                      all sessions say what they have got; leave without a Close
//     detach COUNT AT-ONCE                   stays that are left, after a message each
//     bulk BYTES                             asks the game for so many, on each session
//     challenges COUNT AT-ONCE [PURPOSE] | invented COUNT | nonces FILE | posts FILE AT-ONCE [PATH]
//     visits COUNT AT-ONCE                   challenges, each over a connection of its own
//     admissions AT-ONCE | resumes AT-ONCE   over the challenges; once all are signed it waits for a line
//     returns COUNT AT-ONCE                  resumes without challenges; it waits as well
//     phones FILE | asks COUNT AT-ONCE | decisions AT-ONCE RATE
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "load.h"

struct load load;

static SSL_CTX *client_tls(void) {
  SSL_CTX *context = SSL_CTX_new(TLS_client_method());
  if (context == NULL) die("SSL_CTX_new");
  SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
  // One suite for all contestants, so that none is faster by the cipher it happens to prefer.
  SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256");
  SSL_CTX_set1_groups_list(context, "X25519");
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_read_ahead(context, 1);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  return context;
}

static enum protocol protocol_called(const char *name) {
  static const char *const names[] = {"plain", "tls", "websocket", "admitted", "resumable"};
  for (size_t index = 0; index < LENGTH(names); index++)
    if (strcmp(name, names[index]) == 0) return (enum protocol)index;
  die("no such protocol: %s", name);
}

// The commands about portcullis.v1; false when `line` is none.
static bool stay_command(const char *line) {
  char text[16];
  int count, at_once;
  if (sscanf(line, "speak %15s", text) == 1) load.settings.protocol = protocol_called(text);
  else if (strcmp(line, "agree") == 0) agree_on_events();
  else if (strcmp(line, "acknowledge") == 0) acknowledge(true);
  else if (strcmp(line, "cut") == 0) cut_sessions();
  else if (sscanf(line, "detach %d %d", &count, &at_once) == 2) run_detach(count, at_once);
  else return false;
  printf("{}\n");
  return true;
}

// The commands about approvals; false when `line` is none.
static bool approval_command(const char *line) {
  char text[4096];
  int count, at_once;
  double rate;
  if (sscanf(line, "phones %4095s", text) == 1) read_phones(text);
  else if (sscanf(line, "asks %d %d", &count, &at_once) == 2) run_asks(count, at_once);
  else if (sscanf(line, "decisions %d %lf", &at_once, &rate) == 2) run_decisions(at_once, rate);
  else return false;
  return true;
}

static void command(char *line) {
  char text[4096], word[64];
  int count, at_once, words;
  double seconds, rate;
  unsigned long bytes;
  if (sscanf(line, "open %d %d", &count, &at_once) == 2) {
    uint64_t processor = processor_ns(), started = monotonic_ns();
    open_sessions(count, at_once);
    double elapsed = (double)(monotonic_ns() - started) / 1e9;
    printf("{\"open\": %d, \"seconds\": %.6f, \"own_share\": %.4f}\n", count, elapsed,
           (double)(processor_ns() - processor) / 1e9 / elapsed);
  } else if (strcmp(line, "close") == 0) {
    close_sessions();
    printf("{\"open\": 0}\n");
  } else if (sscanf(line, "echo %lf %lf", &seconds, &rate) == 2) {
    run_echo(BYTES, seconds, rate);
  } else if (sscanf(line, "lines %lf %lf", &seconds, &rate) == 2) {
    run_echo(LINES, seconds, rate);
  } else if (sscanf(line, "events %lf %lf", &seconds, &rate) == 2) {
    run_echo(EVENTS, seconds, rate);
  } else if (sscanf(line, "bulk %lu", &bytes) == 1) {
    run_bulk(bytes);
  } else if ((words = sscanf(line, "challenges %d %d %63s", &count, &at_once, word)) >= 2) {
    run_challenges(count, at_once, words == 3 ? word : NULL, 0);
  } else if (sscanf(line, "visits %d %d", &count, &at_once) == 2) {
    run_challenges(count, at_once, NULL, 1);
  } else if (sscanf(line, "invented %d", &count) == 1) {
    invent_challenges(count, true);
  } else if (sscanf(line, "nonces %4095s", text) == 1) {
    write_nonces(text);
  } else if ((words = sscanf(line, "posts %4095s %d %63s", text, &at_once, word)) >= 2) {
    run_posts(text, at_once, words == 3 ? word : "/attest/register");
  } else if (sscanf(line, "admissions %d", &at_once) == 1) {
    run_admissions(at_once, 1000, false);
  } else if (sscanf(line, "resumes %d", &at_once) == 1) {
    run_admissions(at_once, 1001, false);
  } else if (sscanf(line, "returns %d %d", &count, &at_once) == 2) {
    invent_challenges(count, false);
    run_admissions(at_once, 1001, true);
  } else if (!stay_command(line) && !approval_command(line)) {
    die("no such command: %s", line);
  }
}

int main(int count, char **arguments) {
  if (count == 5 && strcmp(arguments[1], "keys") == 0) {
    make_keys(arguments[2], atoi(arguments[3]), arguments[4]);
    return 0;
  }
  if (count < 3) die("usage: load PROTOCOL PORT [FOLDER FIRST]");
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  // The default slack of 50 µs is the whole distance between two messages.
  prctl(PR_SET_TIMERSLACK, 1);
  load.settings.protocol = protocol_called(arguments[1]);
  load.settings.port = (uint16_t)atoi(arguments[2]);
  load.poller = epoll_create1(EPOLL_CLOEXEC);
  load.tls = client_tls();
  if (count > 4) load_keys(arguments[3], atoi(arguments[4]));
  char line[4200];
  while (fgets(line, sizeof line, stdin) != NULL) {
    line[strcspn(line, "\n")] = 0;
    command(line);
    fflush(stdout);
  }
  return 0;
}
