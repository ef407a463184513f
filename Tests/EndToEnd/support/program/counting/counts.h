// Shared with the test through a mapped file; its offsets are repeated in test_costs.py.
#include <stdint.h>

struct counts {
  int64_t own_allocations;      // by the program and its Swift library
  int64_t openssl_allocations;  // by libssl and libcrypto
  int64_t live_blocks;
  int64_t live_bytes;
  int64_t receives;  // recv and readv
  int64_t sends;
  int64_t waits;  // epoll_wait
};
