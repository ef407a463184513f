// A disk in memory for SQLite (sqlite.org/vfs.html) that keeps what was written and what was synced apart, fails on
// request, and loses power.
#pragma once
#include <stdint.h>

typedef struct fault_disk fault_disk;

enum fault_kind {
  FAULT_NONE,
  FAULT_IO,     // the call fails and has done nothing, or, of a sync, a part of it
  FAULT_FULL,   // what grows a file fails
  FAULT_KILL,   // the process is gone, before or after the call: nothing more happens until fault_disk_restart
  FAULT_POWER,  // the machine is gone: nothing more happens until fault_disk_restart, which forgets what was not synced
};

// Registers a VFS of that name, which must be free. A disk with one seed behaves the same each time.
fault_disk *fault_disk_make(const char *name, uint64_t seed);
// With no connection left.
void fault_disk_free(fault_disk *disk);
// Counts calls from 0 again, and has the calls from `first` on, `count` of them, end in this way.
void fault_disk_plan(fault_disk *disk, enum fault_kind kind, int64_t first, int64_t count);
int64_t fault_disk_calls(fault_disk *disk);
// Whether it was killed or lost power, and waits for a restart.
int fault_disk_is_down(fault_disk *disk);
// Handles of before are of no use any more, faults are forgotten.
void fault_disk_restart(fault_disk *disk);
// From now on no file grows beyond what all take together now and `bytes` more; negative: as much as there is.
void fault_disk_set_room(fault_disk *disk, int64_t bytes);
