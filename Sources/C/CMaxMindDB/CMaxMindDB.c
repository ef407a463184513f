#define _GNU_SOURCE
#include "CMaxMindDB.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static bool read_all(int file, uint8_t *bytes, size_t size) {
  size_t offset = 0;
  while (offset < size) {
    ssize_t count = pread(file, bytes + offset, size - offset, (off_t)offset);
    if (count < 0 && errno == EINTR) continue;
    // At its end, too: the file is shorter than it was a moment ago.
    if (count <= 0) return false;
    offset += (size_t)count;
  }
  uint8_t next;
  return pread(file, &next, 1, (off_t)size) == 0;
}

static int keep_copy(const char *path, MMDB_s *database) {
  size_t size = (size_t)database->file_size;
  uint8_t *copy = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED) return MMDB_OUT_OF_MEMORY_ERROR;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  bool is_read = file >= 0 && read_all(file, copy, size);
  if (file >= 0) close(file);
  // The pages take the place of the file's, and what the library knows by address stays right.
  if (is_read && mprotect(copy, size, PROT_READ) == 0 &&
      mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)database->file_content) != MAP_FAILED) {
    return MMDB_SUCCESS;
  }
  munmap(copy, size);
  return MMDB_IO_ERROR;
}

int portcullis_maxminddb_open(const char *path, MMDB_s *database) {
  int result = MMDB_open(path, MMDB_MODE_MMAP, database);
  if (result != MMDB_SUCCESS) return result;
  result = keep_copy(path, database);
  if (result != MMDB_SUCCESS) MMDB_close(database);
  return result;
}

int64_t portcullis_maxminddb_find(const MMDB_s *database, const uint8_t *address, int32_t count) {
  union {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
  } peer;
  memset(&peer, 0, sizeof peer);
  if (count == 4) {
    peer.v4.sin_family = AF_INET;
    memcpy(&peer.v4.sin_addr, address, 4);
  } else if (count == 16) {
    peer.v6.sin6_family = AF_INET6;
    memcpy(&peer.v6.sin6_addr, address, 16);
  } else {
    return -1;
  }
  int result = MMDB_SUCCESS;
  MMDB_lookup_result_s found = MMDB_lookup_sockaddr(database, &peer.any, &result);
  if (result != MMDB_SUCCESS || !found.found_entry) return -1;
  return (int64_t)found.entry.offset;
}
