/// What a QR code of a pairing says: one text for each value, and no two that a phone takes for one.
internal import Bytes
internal import DeviceWire

enum PairingURIHarness {
  static func check(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    guard let text = String(validating: bytes, as: UTF8.self), let uri = PairingURI(text) else {
      return .refused
    }
    try require(Array(uri.text.utf8) == bytes, "another text than was read")
    let again = PairingURI(
      pairingID: uri.pairingID, secret: uri.secret, serverKeyHash: uri.serverKeyHash, host: uri.host,
      port: uri.port)
    try require(again?.text == uri.text, "its parts make another text")
    for index in bytes.indices {
      var changed = bytes
      changed[index] ^= 1
      guard let other = String(validating: changed, as: UTF8.self).flatMap({ PairingURI($0) }) else {
        continue
      }
      let isSame =
        other.pairingID == uri.pairingID && other.secret.bytes == uri.secret.bytes
        && other.serverKeyHash == uri.serverKeyHash && other.host == uri.host && other.port == uri.port
      try require(!isSame, "byte \(index) says nothing")
    }
    return .accepted
  }
}
