/// Lines of the log that tell of the audit's head: what is read is what either format of the log says of it, whatever else
/// stands there; and no head holds that the harness has not signed.
internal import Bytes
internal import Crypto
internal import DeviceTokens
internal import DeviceWire
internal import JSON
@testable internal import Registry
internal import System

enum AuditHeadHarness {
  private static let server = ServerID(Array(repeating: 0x11, count: 16))

  static func check(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    guard let head = AuditHead(logLine: bytes) else { return .refused }
    try require(head.end.sequence > 0, "a head of no row")
    try require(AuditHead(logLine: json(head)) == head, "another head in the log's JSON")
    try require(
      AuditHead(logLine: json(head, more: true)) == head, "what nobody knows has changed it")
    // In the other format a name ends where white space does.
    if head.keyID.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
      try require(AuditHead(logLine: text(head)) == head, "another head in the log's text")
      try require(
        AuditHead(logLine: text(head) + Array(" seq=1 kid=other".utf8)) == head, "the last word won")
    }
    try judge(head)
    return .accepted
  }

  /// A fuzzer signs nothing: what it has made up is signed as it stands, and for this gate alone.
  private static func judge(_ head: AuditHead) throws(BrokenProperty) {
    guard let server, let other = ServerID(Array(repeating: 0x12, count: 16)) else { return }
    let (key, verifier) = (DeviceTokenHarness.ring.current.key, P256Verifier())
    try require(!head.isSigned(by: key.point, of: server, verifier), "a head that nobody signed")
    guard let signed = try? AuditHead.sign(head.end, at: head.at, of: server, with: key) else {
      throw BrokenProperty("a head that cannot be signed")
    }
    guard let read = AuditHead(logLine: text(signed)) else { throw BrokenProperty("a head that is none") }
    try require(read == signed && read.isSigned(by: key.point, of: server, verifier), "not what was signed")
    try require(read.isSigned(verifier), "not signed by the key that it names")
    try require(!read.isSigned(by: key.point, of: other, verifier), "another gate's head")
    let row = AuditEnd(sequence: read.end.sequence ^ 1, hash: read.end.hash)
    let moved = AuditHead(end: row, at: read.at, keyID: read.keyID, signature: read.signature)
    try require(!moved.isSigned(by: key.point, of: server, verifier), "a signature for another row")
  }

  // MARK: As the log has it

  private static func text(_ head: AuditHead) -> [UInt8] {
    let words = fields(head).map { "\($0)=\($1)" }.joined(separator: " ")
    return Array("time=2026-02-17T00:00:00.000Z level=info event=audit_head \(words)".utf8)
  }

  private static func json(_ head: AuditHead, more: Bool = false) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    for (name, value) in [("event", "audit_head")] + fields(head) {
      writer.name(name)
      writer.value(value)
    }
    if more {
      writer.name("zz_nobody_knows")
      writer.value("seq=1")
    }
    writer.endObject()
    return writer.bytes
  }

  private static func fields(_ head: AuditHead) -> [(String, String)] {
    [
      ("gate", AuditHead.gate), ("at", "\(head.at.value)"), ("hash", head.end.hash.hex), ("kid", head.keyID),
      ("seq", "\(head.end.sequence)"), ("signature", Base64.encodeURL(head.signature.span)),
    ]
      + (head.signer.map { signer in
        [("server_id", signer.server.text), ("key", Base64.encodeURL(signer.key.x963.span))]
      } ?? [])
  }
}
