/// A certificate with every part open to be broken.
package struct TestCertificate {
  package var version: [UInt8] = [0xA0, 0x03, 0x02, 0x01, 0x02]
  package var serial: [UInt8] = [0x01]
  package var algorithm: [UInt8]
  /// Nil: the same.
  package var outerAlgorithm: [UInt8]?
  package var issuer: [UInt8]
  package var notBefore: String
  package var notAfter: String
  package var subject: [UInt8]
  package var key: [UInt8]
  package var afterKey: [UInt8] = []
  package var extensions: [(oid: [UInt8], encoded: [UInt8])]
  package var afterExtensions: [UInt8] = []
  package var isSignedWithSHA384: Bool
  package var unusedSignatureBits: UInt8 = 0
  package var breakSignature: ([UInt8]) -> [UInt8] = { $0 }
  package var breakWhole: ([UInt8]) -> [UInt8] = { $0 }

  package init(
    algorithm: [UInt8] = Self.ecdsaWithSHA256, issuer: [UInt8], notBefore: String = "260101000000Z",
    notAfter: String = "270101000000Z", subject: [UInt8], key: [UInt8],
    extensions: [(oid: [UInt8], encoded: [UInt8])] = [], isSignedWithSHA384: Bool = false
  ) {
    self.algorithm = algorithm
    self.issuer = issuer
    self.notBefore = notBefore
    self.notAfter = notAfter
    self.subject = subject
    self.key = key
    self.extensions = extensions
    self.isSignedWithSHA384 = isSignedWithSHA384
  }

  package static let ecdsaWithSHA256: [UInt8] = [
    0x30, 0x0A, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02,
  ]
  package static let ecdsaWithSHA384: [UInt8] = [
    0x30, 0x0A, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x03,
  ]

  package mutating func set(_ oid: [UInt8], critical: [UInt8] = [], _ value: [UInt8]) {
    remove(oid)
    extensions.append((oid, DERWriter.extension(oid, critical: critical, value)))
  }

  package mutating func remove(_ oid: [UInt8]) {
    extensions.removeAll { $0.oid == oid }
  }

  package func encoded(signedBy issuerKey: TestKey) -> [UInt8] {
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
