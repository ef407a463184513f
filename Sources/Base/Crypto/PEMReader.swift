/// Reads a PEM text block by block (RFC 7468); text around the blocks is free.
internal import COpenSSL

/// Nobody is asked for a pass phrase: what needs one cannot be read. The caller keeps the error queue clean
/// (`withCleanErrorQueue`), as it tells the end of the text from a block that is malformed.
@safe struct PEMReader: ~Copyable {
  /// A BIO with a copy of the text.
  private let memory: OpaquePointer

  /// Nil for a text that is longer than OpenSSL can take, or when memory is short.
  init?(_ text: Span<UInt8>) {
    guard let count = Int32(exactly: text.count), let memory = unsafe BIO_new(BIO_s_mem()) else { return nil }
    // Only read before the call returns, which refuses an empty buffer.
    let written = unsafe text.withUnsafeBufferPointer { buffer in
      unsafe count == 0 ? 0 : BIO_write(memory, buffer.baseAddress, count)
    }
    guard written == count else {
      unsafe BIO_free(memory)
      return nil
    }
    unsafe self.memory = memory
  }

  deinit {
    unsafe BIO_free(memory)
  }

  /// The next certificate, behind whatever other blocks; nil at the end, and where one is malformed.
  func nextCertificate() -> Certificate? {
    guard let handle = unsafe PEM_read_bio_X509(memory, nil, { _, _, _, _ in 0 }, nil) else { return nil }
    return unsafe Certificate(owning: handle)
  }

  /// The next block, as it stands there; nil at the end, and where one is malformed.
  func nextBlock() -> (label: String, content: [UInt8])? {
    var name: UnsafeMutablePointer<CChar>?
    var header: UnsafeMutablePointer<CChar>?
    var content: UnsafeMutablePointer<UInt8>?
    var length = 0
    guard unsafe PEM_read_bio(memory, &name, &header, &content, &length) == 1 else { return nil }
    defer {
      unsafe portcullis_openssl_free(name)
      unsafe portcullis_openssl_free(header)
      unsafe portcullis_openssl_free(content)
    }
    guard let label = unsafe name, let start = unsafe content else { return nil }
    // OpenSSL allocated `length` bytes and filled them.
    return unsafe (String(cString: label), Array(UnsafeBufferPointer(start: start, count: length)))
  }

  /// Whether the last reading found nothing more, rather than something malformed.
  var hasEnded: Bool {
    // PEM_R_NO_START_LINE; the reason is the low 23 bits (ERR_GET_REASON).
    ERR_peek_last_error() & 0x7F_FFFF == 108
  }
}
