/// What a loop's TLS sessions have encrypted in one turn, on its way to the kernel in one `send`.
internal import COpenSSL

/// One for each loop: a session fills it, and its owner sends and resets it before the next session's turn.
@safe package final class Outbox {
  let pointer: UnsafeMutablePointer<portcullis_outbox>
  private let keptBytes: Int

  /// - Parameter keptBytes: the memory that stays when it is reset; it grows beyond when one turn needs more.
  package init(keptBytes: Int = 80 * 1024) {
    guard let pointer = unsafe portcullis_outbox_new(keptBytes) else { fatalError("no memory for an outbox") }
    unsafe self.pointer = pointer
    self.keptBytes = keptBytes
  }

  deinit {
    unsafe portcullis_outbox_free(pointer)
  }

  package var isEmpty: Bool { unsafe pointer.pointee.count == 0 }

  package var bytes: Span<UInt8> {
    @_lifetime(borrow self) get {
      // The memory belongs to this object and changes only by calls that need it unborrowed.
      let buffer = unsafe UnsafeBufferPointer(start: pointer.pointee.bytes, count: pointer.pointee.count)
      let span = unsafe Span(_unsafeElements: buffer)
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  package func reset() {
    unsafe portcullis_outbox_reset(pointer, keptBytes)
  }
}
