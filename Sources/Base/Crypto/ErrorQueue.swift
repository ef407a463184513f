/// OpenSSL's per-thread error queue, kept empty around every call of this module.
internal import COpenSSL

/// Runs `body` with an empty queue and leaves it empty: neither an older error nor this one can be taken for
/// that of another connection on the same thread.
func withCleanErrorQueue<Result: ~Copyable, Failure: Error>(
  _ body: () throws(Failure) -> Result
) throws(Failure) -> Result {
  portcullis_clear_errors()
  defer { portcullis_clear_errors() }
  return try body()
}

/// What cannot fail for any input of a peer: only want of memory, or a library without the algorithm.
func expectSuccess(_ result: Int32, _ call: StaticString) {
  guard result == 1 else { fatalError("OpenSSL: \(call) failed") }
}
