// Tells ThreadSanitizer what `Synchronization.Mutex` does in the Swift library, which is not built for it.
//
// The quick way of the mutex, one compare-and-exchange, is compiled into the program and is seen. With contention it goes
// on in the library and the kernel (FUTEX_LOCK_PI), and ThreadSanitizer, which sees neither, would call whatever the mutex
// guards a race. This library is preloaded, stands in front of those two calls, and says "acquired" and "released": nothing
// is suppressed, so that a race beside a mutex is still told.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

// Synchronization._MutexHandle._lockSlow(UInt32) and ._unlockSlow(), as nm and swift-demangle show them. Should a later
// library name them otherwise, these are not called, and contended mutexes are reported as races again.
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

// Of the sanitizer in the program; programs without it are left alone.
extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

static void *following(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (!found) abort();
  return found;
}

SWIFT void lock_slowly(uint32_t owner, SELF void *handle) __asm__(LOCK);
SWIFT void lock_slowly(uint32_t owner, SELF void *handle) {
  SWIFT void (*original)(uint32_t, SELF void *) = following(LOCK);
  original(owner, handle);
  if (__tsan_acquire) __tsan_acquire(handle);
}

SWIFT void unlock_slowly(SELF void *handle) __asm__(UNLOCK);
SWIFT void unlock_slowly(SELF void *handle) {
  SWIFT void (*original)(SELF void *) = following(UNLOCK);
  if (__tsan_release) __tsan_release(handle);
  original(handle);
}
