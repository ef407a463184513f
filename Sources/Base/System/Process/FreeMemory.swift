/// What the allocator keeps although nobody uses it.
internal import CLinux

package enum FreeMemory {
  /// Hands whole pages of it back to the kernel (malloc_trim(3)): milliseconds, for after something large.
  package static func giveBack() { portcullis_give_memory_back() }
}
