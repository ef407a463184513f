#include "CFaultDisk.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILES = 64, NAME_SIZE = 128 };

struct change {
  int64_t offset;
  int64_t count;  // of bytes; -1: cut off at offset
  uint8_t *bytes;
};

struct image {
  uint8_t *bytes;
  int64_t size;
};

struct inode {
  char name[NAME_SIZE];
  int exists;          // to whoever looks now
  int exists_durably;  // after a loss of power; the name, that is
  struct image visible;
  struct image durable;
  struct change *unsynced;
  int unsynced_count;
};

struct fault_disk {
  sqlite3_vfs vfs;
  char name[NAME_SIZE];
  pthread_mutex_t lock;
  struct inode inodes[MAX_FILES];
  uint64_t random;
  int64_t calls;
  enum fault_kind kind;
  int64_t first, count;
  int is_down;
  enum fault_kind down_by;
  int64_t epoch;
  int64_t room;  // that all files may take together; negative: no bound
};

struct handle {
  sqlite3_file file;
  fault_disk *disk;
  struct inode *inode;
  int64_t epoch;
  int is_database;
};

// S. Vigna's SplitMix64.
static uint64_t next(fault_disk *disk) {
  uint64_t mixed = (disk->random += 0x9E3779B97F4A7C15u);
  mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
  mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
  return mixed ^ mixed >> 31;
}

// Images

static void resize(struct image *image, int64_t size) {
  if (size > image->size) {
    image->bytes = realloc(image->bytes, (size_t)size);
    if (image->bytes == NULL) abort();
    memset(image->bytes + image->size, 0, (size_t)(size - image->size));
  }
  image->size = size;
}

static void apply(struct image *image, const struct change *change) {
  if (change->count < 0) {
    if (image->size > change->offset) resize(image, change->offset);
    return;
  }
  if (image->size < change->offset + change->count) resize(image, change->offset + change->count);
  memcpy(image->bytes + change->offset, change->bytes, (size_t)change->count);
}

static void copy(struct image *to, const struct image *from) {
  resize(to, 0);
  resize(to, from->size);
  if (from->size > 0) memcpy(to->bytes, from->bytes, (size_t)from->size);
}

static void forget(struct inode *inode) {
  for (int i = 0; i < inode->unsynced_count; i++) free(inode->unsynced[i].bytes);
  free(inode->unsynced);
  inode->unsynced = NULL;
  inode->unsynced_count = 0;
}

static void change(struct inode *inode, int64_t offset, int64_t count, const void *bytes) {
  struct change new = {offset, count, NULL};
  if (count > 0) {
    new.bytes = malloc((size_t)count);
    if (new.bytes == NULL) abort();
    memcpy(new.bytes, bytes, (size_t)count);
  }
  apply(&inode->visible, &new);
  inode->unsynced = realloc(inode->unsynced, sizeof new * (size_t)(inode->unsynced_count + 1));
  if (inode->unsynced == NULL) abort();
  inode->unsynced[inode->unsynced_count++] = new;
}

// None of what was not synced, some of it in any order and torn, or all.
static void tear(fault_disk *disk, struct inode *inode) {
  uint64_t chance = next(disk) % 5;
  int64_t piece = next(disk) % 2 == 0 ? 1 : 512;
  for (int i = 0; i < inode->unsynced_count; i++) {
    const struct change *whole = &inode->unsynced[i];
    if (whole->count < 0) {
      if (next(disk) % 4 < chance) apply(&inode->durable, whole);
      continue;
    }
    for (int64_t start = 0; start < whole->count;) {
      int64_t end = (whole->offset + start) / piece * piece + piece - whole->offset;
      if (piece == 1) end = start + 1 + (int64_t)(next(disk) % 97);
      if (end > whole->count) end = whole->count;
      struct change part = {whole->offset + start, end - start, whole->bytes + start};
      if (next(disk) % 4 < chance) apply(&inode->durable, &part);
      start = end;
    }
  }
  forget(inode);
}

// Names

static struct inode *find(fault_disk *disk, const char *name) {
  for (int i = 0; i < MAX_FILES; i++) {
    struct inode *inode = &disk->inodes[i];
    if (inode->exists && strcmp(inode->name, name) == 0) return inode;
  }
  return NULL;
}

static struct inode *make(fault_disk *disk, const char *name) {
  for (int i = 0; i < MAX_FILES; i++) {
    struct inode *inode = &disk->inodes[i];
    if (inode->exists || inode->exists_durably) continue;
    resize(&inode->visible, 0);
    resize(&inode->durable, 0);
    forget(inode);
    strncpy(inode->name, name, NAME_SIZE - 1);
    inode->exists = 1;
    return inode;
  }
  return NULL;
}

// The newest of its name: what an older one left behind is not found any more.
static void become_durable(fault_disk *disk, struct inode *inode) {
  for (int i = 0; i < MAX_FILES; i++) {
    struct inode *other = &disk->inodes[i];
    if (other != inode && !other->exists && strcmp(other->name, inode->name) == 0) other->exists_durably = 0;
  }
  inode->exists_durably = 1;
}

static int64_t taken(const fault_disk *disk) {
  int64_t sum = 0;
  for (int i = 0; i < MAX_FILES; i++) {
    if (disk->inodes[i].exists) sum += disk->inodes[i].visible.size;
  }
  return sum;
}

// Faults

enum step { GO_ON, FAIL, FAIL_FULL, DO_AND_FAIL };

// What becomes of the next call; with the lock held.
static enum step step(fault_disk *disk, int64_t epoch) {
  if (epoch != disk->epoch || disk->is_down) return FAIL;
  int64_t number = disk->calls++;
  if (disk->kind == FAULT_NONE || number < disk->first || number - disk->first >= disk->count) return GO_ON;
  switch (disk->kind) {
    case FAULT_IO: return FAIL;
    case FAULT_FULL: return FAIL_FULL;
    case FAULT_KILL:
    case FAULT_POWER:
      disk->is_down = 1;
      disk->down_by = disk->kind;
      return next(disk) % 2 == 0 ? FAIL : DO_AND_FAIL;
    case FAULT_NONE: break;
  }
  return GO_ON;
}

// Files

static int close_file(sqlite3_file *file) {
  (void)file;
  return SQLITE_OK;
}

static int read_file(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
  struct handle *handle = (struct handle *)file;
  fault_disk *disk = handle->disk;
  pthread_mutex_lock(&disk->lock);
  int result = SQLITE_OK;
  enum step what = step(disk, handle->epoch);
  // A full disk can be read.
  if (what != GO_ON && what != FAIL_FULL) {
    result = SQLITE_IOERR_READ;
  } else {
    struct image *image = &handle->inode->visible;
    int64_t there = image->size - offset;
    if (there < 0) there = 0;
    if (there > count) there = count;
    if (there > 0) memcpy(bytes, image->bytes + offset, (size_t)there);
    if (there < count) {
      memset((uint8_t *)bytes + there, 0, (size_t)(count - there));
      result = SQLITE_IOERR_SHORT_READ;
    }
  }
  pthread_mutex_unlock(&disk->lock);
  return result;
}

static int write_file(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
  struct handle *handle = (struct handle *)file;
  fault_disk *disk = handle->disk;
  pthread_mutex_lock(&disk->lock);
  int result = SQLITE_OK;
  enum step what = step(disk, handle->epoch);
  int64_t growth = offset + count - handle->inode->visible.size;
  if (what == GO_ON && growth > 0 && disk->room >= 0 && taken(disk) + growth > disk->room) what = FAIL_FULL;
  if (what == GO_ON || what == DO_AND_FAIL) change(handle->inode, offset, count, bytes);
  if (what == FAIL_FULL) {
    // As on Linux, what there was room for is written.
    if (count > 1) change(handle->inode, offset, 1 + (int64_t)(next(disk) % (uint64_t)(count - 1)), bytes);
    result = SQLITE_FULL;
  } else if (what != GO_ON) {
    result = SQLITE_IOERR_WRITE;
  }
  pthread_mutex_unlock(&disk->lock);
  return result;
}

static int truncate_file(sqlite3_file *file, sqlite3_int64 size) {
  struct handle *handle = (struct handle *)file;
  fault_disk *disk = handle->disk;
  pthread_mutex_lock(&disk->lock);
  enum step what = step(disk, handle->epoch);
  if (what != FAIL) change(handle->inode, size, -1, NULL);
  pthread_mutex_unlock(&disk->lock);
  return what == GO_ON || what == FAIL_FULL ? SQLITE_OK : SQLITE_IOERR_TRUNCATE;
}

// With the first sync of a journal or log that it made, SQLite syncs the folder, and so all that happened to names.
static void sync_names(fault_disk *disk, const struct handle *handle) {
  if (handle->inode->exists_durably || !handle->inode->exists) return;
  if (handle->is_database) {
    become_durable(disk, handle->inode);
    return;
  }
  for (int i = 0; i < MAX_FILES; i++) disk->inodes[i].exists_durably = disk->inodes[i].exists;
}

static int sync_file(sqlite3_file *file, int flags) {
  (void)flags;
  struct handle *handle = (struct handle *)file;
  fault_disk *disk = handle->disk;
  pthread_mutex_lock(&disk->lock);
  enum step what = step(disk, handle->epoch);
  struct inode *inode = handle->inode;
  if (what == GO_ON) {
    for (int i = 0; i < inode->unsynced_count; i++) apply(&inode->durable, &inode->unsynced[i]);
    forget(inode);
    sync_names(disk, handle);
  } else if (!disk->is_down) {
    // A failed sync loses for good what it did not write: the next one succeeds without it.
    tear(disk, inode);
  }
  pthread_mutex_unlock(&disk->lock);
  return what == GO_ON ? SQLITE_OK : what == FAIL_FULL ? SQLITE_FULL : SQLITE_IOERR_FSYNC;
}

static int size_of_file(sqlite3_file *file, sqlite3_int64 *size) {
  struct handle *handle = (struct handle *)file;
  fault_disk *disk = handle->disk;
  pthread_mutex_lock(&disk->lock);
  enum step what = step(disk, handle->epoch);
  *size = handle->inode->visible.size;
  pthread_mutex_unlock(&disk->lock);
  return what == GO_ON || what == FAIL_FULL ? SQLITE_OK : SQLITE_IOERR_FSTAT;
}

static int lock_file(sqlite3_file *file, int level) {
  (void)file;
  (void)level;
  return SQLITE_OK;
}

static int is_reserved(sqlite3_file *file, int *answer) {
  (void)file;
  *answer = 0;
  return SQLITE_OK;
}

static int control(sqlite3_file *file, int operation, void *argument) {
  (void)file;
  (void)operation;
  (void)argument;
  return SQLITE_NOTFOUND;
}

static int sector_size(sqlite3_file *file) {
  (void)file;
  return 4096;
}

static int characteristics(sqlite3_file *file) {
  (void)file;
  return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

// Without shared memory: a log can be kept by a connection that has the file for itself.
static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = size_of_file,
    .xLock = lock_file,
    .xUnlock = lock_file,
    .xCheckReservedLock = is_reserved,
    .xFileControl = control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = characteristics,
};

// The disk

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags) {
  fault_disk *disk = vfs->pAppData;
  struct handle *handle = (struct handle *)file;
  handle->file.pMethods = NULL;
  if (name == NULL) return SQLITE_CANTOPEN;
  pthread_mutex_lock(&disk->lock);
  int result = SQLITE_CANTOPEN;
  enum step what = step(disk, disk->epoch);
  struct inode *inode = find(disk, name);
  if (inode == NULL && (flags & SQLITE_OPEN_CREATE) && (what == GO_ON || what == DO_AND_FAIL)) inode = make(disk, name);
  if (inode != NULL && (what == GO_ON || what == FAIL_FULL)) {
    handle->file.pMethods = &methods;
    handle->disk = disk;
    handle->inode = inode;
    handle->epoch = disk->epoch;
    handle->is_database = (flags & SQLITE_OPEN_MAIN_DB) != 0;
    if (out_flags != NULL) *out_flags = flags;
    result = SQLITE_OK;
  }
  pthread_mutex_unlock(&disk->lock);
  return result;
}

static int delete_file(sqlite3_vfs *vfs, const char *name, int is_synced) {
  fault_disk *disk = vfs->pAppData;
  pthread_mutex_lock(&disk->lock);
  int result = SQLITE_OK;
  enum step what = step(disk, disk->epoch);
  struct inode *inode = find(disk, name);
  if (inode == NULL) {
    result = what == GO_ON || what == FAIL_FULL ? SQLITE_IOERR_DELETE_NOENT : SQLITE_IOERR_DELETE;
  } else {
    if (what != FAIL) inode->exists = 0;
    if (what != FAIL && is_synced) inode->exists_durably = 0;
    if (what == FAIL || what == DO_AND_FAIL) result = SQLITE_IOERR_DELETE;
  }
  pthread_mutex_unlock(&disk->lock);
  return result;
}

static int access_file(sqlite3_vfs *vfs, const char *name, int flags, int *answer) {
  (void)flags;
  fault_disk *disk = vfs->pAppData;
  pthread_mutex_lock(&disk->lock);
  enum step what = step(disk, disk->epoch);
  struct inode *inode = find(disk, name);
  // As SQLite's own does on Unix: an empty file is as none.
  *answer = inode != NULL && inode->visible.size > 0;
  pthread_mutex_unlock(&disk->lock);
  return what == GO_ON || what == FAIL_FULL ? SQLITE_OK : SQLITE_IOERR_ACCESS;
}

static int full_name(sqlite3_vfs *vfs, const char *name, int size, char *full) {
  (void)vfs;
  if ((int)strlen(name) >= size) return SQLITE_CANTOPEN;
  strcpy(full, name);
  return SQLITE_OK;
}

static int random_bytes(sqlite3_vfs *vfs, int count, char *bytes) {
  fault_disk *disk = vfs->pAppData;
  pthread_mutex_lock(&disk->lock);
  for (int i = 0; i < count; i++) bytes[i] = (char)next(disk);
  pthread_mutex_unlock(&disk->lock);
  return count;
}

static int sleep_for(sqlite3_vfs *vfs, int microseconds) {
  (void)vfs;
  return microseconds;
}

static int time_of_day(sqlite3_vfs *vfs, double *julian) {
  (void)vfs;
  *julian = 2461000.5;
  return SQLITE_OK;
}

static int last_error(sqlite3_vfs *vfs, int size, char *text) {
  (void)vfs;
  (void)size;
  (void)text;
  return 0;
}

fault_disk *fault_disk_make(const char *name, uint64_t seed) {
  fault_disk *disk = calloc(1, sizeof *disk);
  if (disk == NULL) abort();
  strncpy(disk->name, name, NAME_SIZE - 1);
  disk->random = seed;
  disk->room = -1;
  pthread_mutex_init(&disk->lock, NULL);
  disk->vfs = (sqlite3_vfs){
      .iVersion = 1,
      .szOsFile = sizeof(struct handle),
      .mxPathname = NAME_SIZE - 16,
      .zName = disk->name,
      .pAppData = disk,
      .xOpen = open_file,
      .xDelete = delete_file,
      .xAccess = access_file,
      .xFullPathname = full_name,
      .xRandomness = random_bytes,
      .xSleep = sleep_for,
      .xCurrentTime = time_of_day,
      .xGetLastError = last_error,
  };
  if (sqlite3_vfs_register(&disk->vfs, 0) != SQLITE_OK) abort();
  return disk;
}

void fault_disk_free(fault_disk *disk) {
  sqlite3_vfs_unregister(&disk->vfs);
  for (int i = 0; i < MAX_FILES; i++) {
    forget(&disk->inodes[i]);
    free(disk->inodes[i].visible.bytes);
    free(disk->inodes[i].durable.bytes);
  }
  pthread_mutex_destroy(&disk->lock);
  free(disk);
}

void fault_disk_plan(fault_disk *disk, enum fault_kind kind, int64_t first, int64_t count) {
  pthread_mutex_lock(&disk->lock);
  disk->kind = kind;
  disk->first = first;
  disk->count = count;
  disk->calls = 0;
  pthread_mutex_unlock(&disk->lock);
}

int64_t fault_disk_calls(fault_disk *disk) {
  pthread_mutex_lock(&disk->lock);
  int64_t calls = disk->calls;
  pthread_mutex_unlock(&disk->lock);
  return calls;
}

int fault_disk_is_down(fault_disk *disk) {
  pthread_mutex_lock(&disk->lock);
  int is_down = disk->is_down;
  pthread_mutex_unlock(&disk->lock);
  return is_down;
}

void fault_disk_restart(fault_disk *disk) {
  pthread_mutex_lock(&disk->lock);
  if (disk->is_down && disk->down_by == FAULT_POWER) {
    for (int i = 0; i < MAX_FILES; i++) {
      struct inode *inode = &disk->inodes[i];
      tear(disk, inode);
      // A name that was made or removed and not synced is there or not.
      if (inode->exists == inode->exists_durably || next(disk) % 2 == 0) continue;
      if (inode->exists) become_durable(disk, inode);
      inode->exists_durably = inode->exists;
    }
    for (int i = 0; i < MAX_FILES; i++) {
      struct inode *inode = &disk->inodes[i];
      inode->exists = inode->exists_durably;
      copy(&inode->visible, &inode->durable);
    }
  }
  disk->is_down = 0;
  disk->kind = FAULT_NONE;
  disk->calls = 0;
  disk->epoch++;
  pthread_mutex_unlock(&disk->lock);
}

void fault_disk_set_room(fault_disk *disk, int64_t bytes) {
  pthread_mutex_lock(&disk->lock);
  disk->room = bytes < 0 ? -1 : taken(disk) + bytes;
  pthread_mutex_unlock(&disk->lock);
}
