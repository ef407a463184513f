/// HKDF with SHA-256 (RFC 5869): further keys out of one secret, each by its own name.
internal import Bytes

/// Any number of threads may use it at once.
package struct HKDFSHA256: Sendable {
  /// Of `expand`, in bytes (RFC 5869 §2.3).
  package static let mostBytes = 255 * 32
  /// Under the pseudorandom key that `extract` has made.
  private let expander: HMACSHA256

  /// - Parameter salt: none is 32 zeros (RFC 5869 §2.2).
  package init(_ secret: PrivateKeyText, salt: [UInt8] = []) {
    let extractor = HMACSHA256(key: (salt.isEmpty ? [UInt8](repeating: 0, count: 32) : salt).span)
    var key = extractor.authenticate(secret).array
    defer { wipe(&key) }
    expander = HMACSHA256(key: key.span)
  }

  /// A key that says nothing of the secret, nor of those by other names; the caller's to wipe.
  /// - Parameters:
  ///   - count: of its bytes, at most `mostBytes`.
  ///   - name: what it is for (`info`).
  package func expand(_ count: Int, for name: [UInt8]) -> [UInt8] {
    guard (0...Self.mostBytes).contains(count) else { fatalError("HKDFSHA256: \(count) bytes") }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 32)
    var block: [UInt8] = []
    var number: UInt8 = 1
    while bytes.count < count {
      var message = block + name
      message.append(number)
      block = expander.authenticate(message.span).array
      wipe(&message)
      bytes += block
      // Beyond 255 blocks nothing is asked for any more.
      number &+= 1
    }
    wipe(&block)
    bytes.removeLast(bytes.count - count)
    return bytes
  }
}
