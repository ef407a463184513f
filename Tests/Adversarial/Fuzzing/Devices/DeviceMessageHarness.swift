/// The values of devices' messages: what is read is written the same again; and no two lists of fields make the same bytes,
/// as the bytes can be taken apart again.
///
/// The first byte of an input says what the rest is.
internal import Bytes
internal import Crypto
internal import DeviceWire

enum DeviceMessageHarness {
  static func check(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    guard let first = bytes.first else { return .refused }
    let rest = Array(bytes.dropFirst())
    let isTaken: Bool
    switch first % 8 {
    case 0: isTaken = try checkIdentifier(rest)
    case 1: isTaken = try checkKey(rest)
    case 2: isTaken = try checkSignature(rest)
    case 3: isTaken = try checkTexts(rest)
    case 4: isTaken = try checkDigits(rest)
    case 5: isTaken = try checkURI(rest)
    case 6: isTaken = try checkHash(rest)
    default: isTaken = try checkFields(rest)
    }
    return isTaken ? .accepted : .refused
  }

  private static func text(_ bytes: [UInt8]) -> String? { String(validating: bytes, as: UTF8.self) }

  private static func checkIdentifier(_ bytes: [UInt8]) throws(BrokenProperty) -> Bool {
    guard let id = text(bytes).flatMap({ DeviceID($0) }) else { return false }
    try require(Array(id.text.utf8) == bytes, "another text")
    try require(DeviceID(id.bytes) == id, "another identifier by its bytes")
    return true
  }

  private static func checkKey(_ bytes: [UInt8]) throws(BrokenProperty) -> Bool {
    guard let key = DevicePublicKey(bytes.span, checkedBy: verifier) else { return false }
    try require(bytes == key.spki || bytes == key.point.x963, "a third form of a key")
    try require(DevicePublicKey(key.spki.span, checkedBy: verifier) == key, "another key by its SPKI")
    try require(DeviceKeys(device: key, approval: key) == nil, "one key for both")
    return true
  }

  private static func checkSignature(_ bytes: [UInt8]) throws(BrokenProperty) -> Bool {
    guard let signature = DeviceSignature(bytes) else { return false }
    try require(signature.der == bytes, "another signature")
    // SEQUENCE, its length, and two INTEGERs that fill it.
    let first = Int(bytes[3])
    try require(bytes.count <= 72 && Int(bytes[1]) == bytes.count - 2, "another length")
    try require(Int(bytes[5 + first]) == bytes.count - 6 - first, "something between or behind")
    return true
  }

  private static func checkTexts(_ bytes: [UInt8]) throws(BrokenProperty) -> Bool {
    guard let text = text(bytes) else { return false }
    let scalars = Array(text.unicodeScalars)
    let isClean = scalars.indices.allSatisfy { place in
      if scalars[place] != "\u{FE0F}" {
        return !ShownText.isRefused(scalars[place]) && !ShownText.isInvisible(scalars[place])
      }
      return place > 0 && !scalars[place - 1].isASCII && scalars[place - 1].properties.isEmoji
    }
    let name = DeviceName(text)
    try require((name != nil) == (isClean && (1...128).contains(bytes.count)), "a name, or not")
    try require((Audience(text) != nil) == (isClean && bytes.count <= 256), "an audience, or not")
    if let name { try require(Array(name.text.utf8) == bytes, "a changed name") }
    return name != nil
  }

  private static func checkDigits(_ bytes: [UInt8]) throws(BrokenProperty) -> Bool {
    guard let text = text(bytes) else { return false }
    let isDigits = bytes.allSatisfy { (0x30...0x39).contains($0) }
    let code = MatchCode(text)
    try require(
      (code != nil) == (isDigits && (bytes.isEmpty || (2...6).contains(bytes.count))), "a code, or not")
    try require((PairingDigits(typed: text) != nil) == (isDigits && bytes.count == 6), "six digits, or not")
    if let code { try require(Vote(.deny, matchCode: code) == nil || code.isNone, "a denial with a code") }
    return code != nil
  }

  private static func checkURI(_ bytes: [UInt8]) throws(BrokenProperty) -> Bool {
    guard let uri = text(bytes).flatMap({ PairingURI($0) }) else { return false }
    try require(Array(uri.text.utf8) == bytes, "another spelling of the same")
    return true
  }

  private static func checkHash(_ bytes: [UInt8]) throws(BrokenProperty) -> Bool {
    guard let hash = text(bytes).flatMap({ Bytes32(hex: $0) }) else { return false }
    try require(Array(hash.hex.utf8) == bytes, "another hash")
    return true
  }

  /// The domain by one byte, then fields, each behind its length in one byte.
  private static func checkFields(_ bytes: [UInt8]) throws(BrokenProperty) -> Bool {
    guard let first = bytes.first else { return false }
    let domains = DeviceMessage.Domain.allCases
    let domain = domains[Int(first) % domains.count]
    var fields: [[UInt8]] = []
    var rest = bytes.dropFirst()
    while let count = rest.popFirst() {
      guard rest.count >= Int(count) else { return false }
      fields.append(Array(rest.prefix(Int(count))))
      rest = rest.dropFirst(Int(count))
    }
    let message = DeviceMessage(domain, fields).bytes
    var parts: [[UInt8]] = []
    var index = 0
    while index < message.count {
      try require(message.count - index >= 4, "a cut length")
      let count = message[index..<index + 4].reduce(0) { $0 << 8 | Int($1) }
      index += 4
      try require(message.count - index >= count, "a cut field")
      parts.append(Array(message[index..<index + count]))
      index += count
    }
    try require(parts == [Array(domain.text.utf8)] + fields, "other fields when taken apart")
    return true
  }

  private static var verifier: P256Verifier { P256Verifier() }
}
