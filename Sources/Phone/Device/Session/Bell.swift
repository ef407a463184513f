/// Wakes a thread that waits for descriptors: an eventfd that any thread may ring.
internal import CLinux
internal import Glibc
internal import System

final class Bell: Sendable {
  private let owned: OwnedDescriptor

  init() throws(SystemError) {
    let number = portcullis_eventfd()
    guard number >= 0 else { throw SystemError("eventfd") }
    owned = OwnedDescriptor(owning: number)
  }

  /// Readable from the first ring until `clear`.
  var descriptor: Int32 { owned.number }

  func ring() {
    var one: UInt64 = 1
    // An eventfd takes eight bytes at once.
    _ = unsafe write(owned.number, &one, 8)
  }

  func clear() {
    var count: UInt64 = 0
    // And gives eight; without a ring there is nothing to read, and the descriptor does not block.
    _ = unsafe read(owned.number, &count, 8)
  }
}
