// What a test tells the preloaded shim, in a file both map: see faults.py for the same layout.
#pragma once
#include <stdint.h>

// What would survive a power cut of one file: so many bytes, and its name only once the directory was synced.
struct survivor {
  uint64_t inode;
  int64_t synced_size;
  int64_t has_name;
};
enum { SURVIVORS = 128 };

struct control {
  int64_t realtime_offset;   // nanoseconds added to CLOCK_REALTIME and its kin
  int64_t monotonic_offset;  // nanoseconds added to CLOCK_MONOTONIC, _RAW, _COARSE and CLOCK_BOOTTIME
  int32_t sync_hold;         // 1: fsync and fdatasync of matching files wait until it is 0 again
  int32_t sync_error;        // errno of every fsync and fdatasync of matching files, 0: none
  int32_t nth;               // the matching call that fails, counted from 1; 0: none
  int32_t nth_error;         // its errno
  int32_t sticky;            // 1: every later matching call fails as well
  int32_t torn;              // 1: a failing write first writes half of its bytes, and fails when called again
  int32_t calls;             // matching calls so far
  int32_t syncs_waiting;     // syncs held at this moment
  int32_t syncs_done;        // syncs that reached the kernel
  int32_t failures;          // calls that failed by order
  char path_part[128];       // files whose path contains this match; empty: none
  int64_t survivor_count;
  struct survivor survivors[SURVIVORS];
  int32_t thread_nth;        // the start of a thread that fails with EAGAIN, counted from 1; 0: none
  int32_t threads;           // starts of threads so far
  int32_t listen_hold;       // 1: listen waits until it is 0 again
  int32_t listens_waiting;   // calls of listen held at this moment
  int32_t resolve_hold;      // 1: resolving the name waits until it is 0 again
  int32_t resolve_error;     // what resolving the name fails with (EAI_…), 0: not
  int32_t resolves;          // how often the name was asked for
  int32_t resolves_waiting;  // of those, held at this moment
  int32_t memory_nth;        // OpenSSL's call of malloc or realloc that gets nothing, counted from 1; 0: none
  int32_t memory_sticky;     // 1: every later one gets nothing as well
  int32_t memory_calls;      // OpenSSL's calls so far, counted while memory_nth is set
  int32_t memory_least;      // whoever asks for so much or more gets nothing; 0: no such order
  char resolve_name[64];     // the name that is resolved by order
  char resolve_address[64];  // what it leads to: numbers, with commas between them
  int32_t leg_port;          // the game's: the calls below are those on connections to it; 0: none
  int32_t leg_hold;          // which calls wait until it is 0 again
  int32_t leg_nth;           // from the nth on of their kind
  int32_t leg_take;          // 1 more than how many bytes are written yet, then none are taken; 0: no such order
  int32_t leg_reads;         // reads so far
  int32_t leg_writes;        // writes so far
  int32_t legs_held;         // calls held at this moment
  int64_t realtime_still;    // what CLOCK_REALTIME and its kin show before the offset; 0: what they are
  int64_t monotonic_still;   // the same of those that monotonic_offset is for
  int32_t space_hold;        // 1: statvfs waits until it is 0 again
  int32_t spaces_waiting;    // calls of statvfs held at this moment
  int32_t listening_hold;    // 1: listen on a TCP socket returns only when it is 0 again
  int32_t listenings_waiting;  // calls of listen held so at this moment
};

enum leg_hold { HOLD_NONE, HOLD_BEFORE_READ, HOLD_AFTER_READ, HOLD_BEFORE_WRITE, HOLD_AFTER_WRITE };

extern struct control *control;
