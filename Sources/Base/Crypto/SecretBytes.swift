/// Key material that is wiped when it is no longer needed, and is never copied.
internal import COpenSSL

@safe struct SecretBytes: ~Copyable, @unchecked Sendable {
  private let storage: UnsafeMutableRawPointer
  let count: Int

  init(_ bytes: Span<UInt8>) {
    // OPENSSL_malloc(0) may be nil, so there is always at least one byte.
    guard let storage = unsafe portcullis_openssl_allocate(max(bytes.count, 1)) else {
      fatalError("OpenSSL: OPENSSL_malloc failed")
    }
    unsafe self.storage = storage
    count = bytes.count
    for index in bytes.indices {
      unsafe storage.storeBytes(of: bytes[index], toByteOffset: index, as: UInt8.self)
    }
  }

  deinit {
    unsafe portcullis_openssl_clear_free(storage, max(count, 1))
  }

  /// The pointer is good for `count` bytes and only while `body` runs.
  borrowing func withPointer<Result>(_ body: (UnsafePointer<UInt8>) -> Result) -> Result {
    unsafe body(UnsafePointer(storage.assumingMemoryBound(to: UInt8.self)))
  }
}
