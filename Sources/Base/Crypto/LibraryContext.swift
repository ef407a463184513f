/// OpenSSL's state that threads share, once more for those that others must not wait for (OSSL_LIB_CTX(3)).
internal import COpenSSL

/// Making or freeing a certificate, a key or a session takes one lock of the library context. The C library's writers spin
/// while the thread before them has it in hand, so that one of low priority, which has lost its processor right there, holds
/// up a loop for as long as the loop itself keeps the processor: 15 to 50 ms were seen.
@safe package final class LibraryContext: Sendable {
  /// For threads of low priority. It is never freed, as what was made under it may outlive them.
  package static let background = LibraryContext()

  /// `OSSL_LIB_CTX*`, with the default provider once something is fetched from it.
  private nonisolated(unsafe) let context: OpaquePointer

  private init() {
    guard let context = unsafe OSSL_LIB_CTX_new() else { fatalError("OpenSSL: no library context") }
    unsafe self.context = context
  }

  /// From here on all that this thread asks OpenSSL for is done under this context.
  package func adoptByThread() {
    _ = unsafe OSSL_LIB_CTX_set0_default(context)
  }

  /// Whether this thread has adopted it.
  package var isOfThread: Bool { unsafe OSSL_LIB_CTX_set0_default(nil) == context }
}
