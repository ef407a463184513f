/// The phone's SHA-256 and HMAC against OpenSSL's, for random bytes of all lengths around a block's end.
import Bytes
import Crypto
import DeviceWire
import Foundation
import Testing

@Suite struct SHA2Tests {
  /// `PORTCULLIS_HASHES=1000000` is what a release is tried with; it takes ten minutes without optimisation.
  @Test func isThatOfOpenSSL() {
    let count = Int(ProcessInfo.processInfo.environment["PORTCULLIS_HASHES"] ?? "") ?? 3000
    var generator = SystemRandomNumberGenerator()
    var differing = 0
    for round in 0..<count {
      let bytes = (0..<round % 200).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
      let key = (0...round % 97).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
      let hash = SHA256.hash(bytes.span).array
      let mac = HMACSHA256(key: key.span).authenticate(bytes.span).array
      if SHA2.hash(bytes).bytes != hash || SHA2.authenticate(bytes, key: key).bytes != mac { differing += 1 }
    }
    #expect(differing == 0)
  }
}
