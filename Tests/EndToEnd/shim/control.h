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
};

extern struct control *control;
