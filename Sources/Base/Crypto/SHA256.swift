/// SHA-256 (FIPS 180-4), at once or in parts, over an algorithm that is fetched once.
package import Bytes
internal import COpenSSL

@safe package struct SHA256: ~Copyable {
  /// `EVP_MD_CTX*`, ours alone until `deinit`.
  private let context: OpaquePointer

  package init() {
    guard let context = unsafe EVP_MD_CTX_new() else { fatalError("OpenSSL: EVP_MD_CTX_new failed") }
    unsafe self.context = context
    unsafe expectSuccess(EVP_DigestInit_ex2(context, Self.algorithm.handle, nil), "EVP_DigestInit_ex2")
  }

  deinit {
    unsafe EVP_MD_CTX_free(context)
  }

  package static func hash(_ bytes: Span<UInt8>) -> Bytes32 {
    var hash = SHA256()
    hash.update(bytes)
    return hash.finalize()
  }

  /// Of the two, one after the other: App Attest's nonce is `hash(authenticatorData, clientDataHash)`.
  package static func hash(_ first: Span<UInt8>, _ second: Span<UInt8>) -> Bytes32 {
    var hash = SHA256()
    hash.update(first)
    hash.update(second)
    return hash.finalize()
  }

  package static func hash(_ first: Span<UInt8>, _ second: Bytes32) -> Bytes32 {
    var hash = SHA256()
    hash.update(first)
    hash.update(second)
    return hash.finalize()
  }

  package static func hash(_ digest: Bytes32) -> Bytes32 {
    var hash = SHA256()
    hash.update(digest)
    return hash.finalize()
  }

  package mutating func update(_ bytes: Span<UInt8>) {
    // The buffer is the span's own and is only read before the call returns.
    unsafe bytes.withUnsafeBufferPointer { buffer in
      unsafe expectSuccess(EVP_DigestUpdate(context, buffer.baseAddress, buffer.count), "EVP_DigestUpdate")
    }
  }

  package mutating func update(_ bytes: Bytes32) {
    update(bytes.inlineArray.span)
  }

  package consuming func finalize() -> Bytes32 {
    var digest: [32 of UInt8] = .init(repeating: 0)
    var span = digest.mutableSpan
    // SHA-256 writes 32 bytes, which is what the buffer holds.
    unsafe span.withUnsafeMutableBufferPointer { buffer in
      unsafe expectSuccess(EVP_DigestFinal_ex(context, buffer.baseAddress, nil), "EVP_DigestFinal_ex")
    }
    return Bytes32(digest)
  }

  /// Fetching costs more than hashing a short message, so it is done once; an `EVP_MD` may be shared by
  /// threads.
  @safe private struct Algorithm: @unchecked Sendable {
    let handle: OpaquePointer

    init() {
      guard let handle = unsafe EVP_MD_fetch(nil, "SHA256", nil) else {
        fatalError("OpenSSL: SHA-256 is not available")
      }
      unsafe self.handle = handle
    }
  }
  private static let algorithm = Algorithm()
}
