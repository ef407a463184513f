/// A certificate with every part open to be broken.
struct TestCertificate {
  var version: [UInt8] = [0xA0, 0x03, 0x02, 0x01, 0x02]
  var serial: [UInt8] = [0x01]
  var algorithm = Self.ecdsaWithSHA256
  /// Nil: the same.
  var outerAlgorithm: [UInt8]?
  var issuer: [UInt8]
  var notBefore = "260101000000Z"
  var notAfter = "270101000000Z"
  var subject: [UInt8]
  var key: [UInt8]
  var afterKey: [UInt8] = []
  var extensions: [(oid: [UInt8], encoded: [UInt8])]
  var afterExtensions: [UInt8] = []
  var isSignedWithSHA384 = false
  var unusedSignatureBits: UInt8 = 0
  var breakSignature: ([UInt8]) -> [UInt8] = { $0 }
  var breakWhole: ([UInt8]) -> [UInt8] = { $0 }

  static let ecdsaWithSHA256: [UInt8] = [
    0x30, 0x0A, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02,
  ]
  static let ecdsaWithSHA384: [UInt8] = [
    0x30, 0x0A, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x03,
  ]

  mutating func set(_ oid: [UInt8], critical: [UInt8] = [], _ value: [UInt8]) {
    remove(oid)
    extensions.append((oid, DERWriter.extension(oid, critical: critical, value)))
  }

  mutating func remove(_ oid: [UInt8]) {
    extensions.removeAll { $0.oid == oid }
  }

  func encoded(signedBy issuerKey: TestKey) -> [UInt8] {
    let body = DERWriter.sequence(
      version, DERWriter.integer(serial), algorithm, issuer,
      DERWriter.sequence(DERWriter.utcTime(notBefore), DERWriter.utcTime(notAfter)), subject, key, afterKey,
      DERWriter.element([0xA3], DERWriter.element([0x30], extensions.flatMap(\.encoded))), afterExtensions)
    let signature = breakSignature(issuerKey.sign(body, sha384: isSignedWithSHA384))
    return breakWhole(
      DERWriter.sequence(
        body, outerAlgorithm ?? algorithm,
        DERWriter.element([0x03], [unusedSignatureBits] + signature)))
  }
}
