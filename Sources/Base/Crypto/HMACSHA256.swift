/// HMAC-SHA-256 (RFC 2104) under one kept key; any number of threads may use it at once.
package import Bytes
internal import COpenSSL

@safe package final class HMACSHA256: @unchecked Sendable {
  /// `EVP_MAC_CTX*` that has taken in the key. It is only ever duplicated, never fed, hence safe to share.
  private let keyed: OpaquePointer

  /// `key` must not be empty; 32 bytes or more are wanted for full strength.
  package convenience init(key: Span<UInt8>) {
    let keyed = unsafe key.withUnsafeBufferPointer { buffer in
      unsafe portcullis_hmac_sha256_new(buffer.baseAddress, buffer.count)
    }
    unsafe self.init(owning: keyed, key.count)
  }

  private init(owning keyed: OpaquePointer?, _ keyBytes: Int) {
    // OpenSSL takes a missing key for "the one you have": an empty one is our own bug.
    guard keyBytes > 0 else { fatalError("HMACSHA256: empty key") }
    guard let keyed = unsafe keyed else { fatalError("OpenSSL: HMAC-SHA-256 is not available") }
    unsafe self.keyed = keyed
  }

  /// `key` must not be empty.
  package convenience init(key: PrivateKeyText) {
    // `count` bytes from where the key lies, for the length of the call; OpenSSL takes a copy.
    unsafe self.init(owning: key.withPointer { unsafe portcullis_hmac_sha256_new($0, key.count) }, key.count)
  }

  deinit {
    unsafe EVP_MAC_CTX_free(keyed)
  }

  package func authenticate(_ message: Span<UInt8>) -> Bytes32 {
    unsafe message.withUnsafeBufferPointer { unsafe authenticate($0.baseAddress, $0.count) }
  }

  package func authenticate(_ message: PrivateKeyText) -> Bytes32 {
    // `count` bytes from where the text lies, only read before the call returns.
    unsafe message.withPointer { unsafe authenticate($0, message.count) }
  }

  /// - Parameters:
  ///   - start: of the message; may be nil where it has no bytes.
  ///   - count: of its bytes.
  private func authenticate(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Bytes32 {
    guard let context = unsafe EVP_MAC_CTX_dup(keyed) else { fatalError("OpenSSL: EVP_MAC_CTX_dup failed") }
    defer { unsafe EVP_MAC_CTX_free(context) }
    unsafe expectSuccess(EVP_MAC_update(context, start, count), "EVP_MAC_update")
    var tag: [32 of UInt8] = .init(repeating: 0)
    var span = tag.mutableSpan
    // The count given is the buffer's own, and the tag of SHA-256 fills it.
    unsafe span.withUnsafeMutableBufferPointer { buffer in
      var written = 0
      unsafe expectSuccess(
        EVP_MAC_final(context, buffer.baseAddress, &written, buffer.count), "EVP_MAC_final")
    }
    return Bytes32(tag)
  }
}
