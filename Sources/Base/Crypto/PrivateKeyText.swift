/// A private key as its file has it, wiped when nobody holds it any more; and the wiping of other bytes.
internal import COpenSSL
internal import Glibc
package import System

package final class PrivateKeyText: Sendable, Equatable {
  private let bytes: SecretBytes

  /// The original is the caller's to wipe.
  package init(copying bytes: Span<UInt8>) {
    self.bytes = SecretBytes(bytes)
  }

  /// Reads a file without leaving parts of it behind in memory; `EFBIG` beyond `limit` bytes.
  package static func read(_ path: String, limit: Int) throws(SystemError) -> PrivateKeyText {
    let file = try OwnedDescriptor.open(reading: path)
    // Of its full size from the beginning: an array that grows leaves its former memory behind.
    var text = [UInt8](repeating: 0, count: limit + 1)
    defer { wipe(&text) }
    var count = 0
    while count < text.count {
      // Within the array, from what was read so far to its end.
      let got = unsafe text.withUnsafeMutableBytes { buffer in
        unsafe Glibc.read(file.number, buffer.baseAddress.map { unsafe $0 + count }, buffer.count - count)
      }
      if got == 0 { return PrivateKeyText(copying: text.span.extracting(0..<count)) }
      if got > 0 { count += got } else if errno != EINTR { throw SystemError("read") }
    }
    throw SystemError("read", EFBIG)
  }

  package var count: Int { bytes.count }

  /// The pointer is good for `count` bytes and only while `body` runs.
  package func withPointer<Result>(_ body: (UnsafePointer<UInt8>) -> Result) -> Result {
    unsafe bytes.withPointer(body)
  }

  /// Whether it begins a certificate in PEM somewhere: in the place of a key it is a slip of the hand.
  package var holdsCertificate: Bool {
    let mark = Array("-----BEGIN CERTIFICATE-----".utf8)
    return unsafe withPointer { pointer in
      // `count` bytes, while the text lives.
      let text = unsafe UnsafeBufferPointer(start: pointer, count: count)
      guard count >= mark.count else { return false }
      return (0...(count - mark.count)).contains { start in
        mark.indices.allSatisfy { unsafe text[start + $0] == mark[$0] }
      }
    }
  }

  package static func == (left: PrivateKeyText, right: PrivateKeyText) -> Bool {
    guard left.count == right.count else { return false }
    // Both are `count` bytes long, and compared in constant time.
    return unsafe left.withPointer { one in
      unsafe right.withPointer { other in unsafe CRYPTO_memcmp(one, other, left.count) == 0 }
    }
  }
}

/// Overwrites the bytes where they are, also when nobody looks at them afterwards. To be the only holder of the array
/// is the caller's part: a shared one would be copied first.
package func wipe(_ bytes: inout [UInt8]) {
  unsafe bytes.withUnsafeMutableBytes { buffer in unsafe OPENSSL_cleanse(buffer.baseAddress, buffer.count) }
}
