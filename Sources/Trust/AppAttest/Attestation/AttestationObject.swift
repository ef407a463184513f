/// The attestation object as ranges of its bytes: CBOR { fmt, attStmt { x5c, receipt }, authData } and
/// nothing more (WebAuthn Level 3 §6.5.4; Apple, "Validating apps that connect to your server").
internal import Bytes
internal import CBOR

struct UnverifiedAttestation: Sendable {
  let leaf: Range<Int>
  let intermediate: Range<Int>
  let receipt: Range<Int>
  let authenticatorData: Range<Int>

  init(_ bytes: Span<UInt8>) throws(AttestationError) {
    let document: CBORDocument
    do throws(CBORError) {
      document = try CBORDocument.parse(bytes, limits: CBORLimits(bytes: Self.maximumBytes))
    } catch {
      throw error == .tooManyBytes ? .tooLarge : .cbor(error)
    }

    var name: Range<Int>?
    var statement: CBORDocument.Item?
    var data: Range<Int>?
    for (key, value) in document.pairs(of: document.root) {
      switch (bytes.extracting(key), value.kind) {
      case (let member, .text(let content)) where member.isText("fmt"): name = content
      case (let member, .map) where member.isText("attStmt"): statement = value
      case (let member, .bytes(let content)) where member.isText("authData"): data = content
      default: throw .format
      }
    }
    guard let name, let statement, let data else { throw .format }

    var certificates: [Range<Int>]?
    var receipt: Range<Int>?
    for (key, value) in document.pairs(of: statement) {
      switch (bytes.extracting(key), value.kind) {
      case (let member, .array) where member.isText("x5c"):
        certificates = try Self.byteStrings(document.elements(of: value))
      case (let member, .bytes(let content)) where member.isText("receipt"): receipt = content
      default: throw .format
      }
    }
    guard let certificates, let receipt else { throw .format }

    guard bytes.extracting(name).isText("apple-appattest") else { throw .formatName }
    guard certificates.count == 2 else { throw .certificateCount }
    guard certificates[0].count <= Self.maximumCertificateBytes else { throw .certificateTooLarge(.leaf) }
    guard certificates[1].count <= Self.maximumCertificateBytes else {
      throw .certificateTooLarge(.intermediate)
    }
    leaf = certificates[0]
    intermediate = certificates[1]
    self.receipt = receipt
    authenticatorData = data
  }

  private static func byteStrings(_ items: [CBORDocument.Item]) throws(AttestationError) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    for item in items {
      guard case .bytes(let content) = item.kind else { throw .format }
      ranges.append(content)
    }
    return ranges
  }

  /// Apple's objects have 5,191 to 5,921 bytes, most of it receipt.
  static let maximumBytes = 16_384
  /// Apple's leaves have about 1,000 bytes.
  static let maximumCertificateBytes = 4096
}
