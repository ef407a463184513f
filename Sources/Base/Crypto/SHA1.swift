/// SHA-1 (FIPS 180-4) for the WebSocket handshake alone (RFC 6455 §4.2.2), where it proves nothing and hides
/// nothing.
internal import COpenSSL

package enum SHA1 {
  package static let byteCount = 20

  /// The 20 bytes of the digest, through OpenSSL's EVP.
  package static func digest(_ bytes: Span<UInt8>) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: byteCount)
    var written: UInt32 = 0
    // Both buffers live through the call; it reads `count` bytes of one and writes at most 20 of the other.
    let done = unsafe bytes.withUnsafeBufferPointer { input in
      unsafe digest.withUnsafeMutableBufferPointer { output in
        unsafe EVP_Digest(input.baseAddress, input.count, output.baseAddress, &written, EVP_sha1(), nil)
      }
    }
    guard done == 1, Int(written) == byteCount else {
      fatalError("this OpenSSL offers no SHA-1: the WebSocket handshake needs it")
    }
    return digest
  }
}
