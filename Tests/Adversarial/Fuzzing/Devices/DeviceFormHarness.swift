/// Bodies of requests about devices, and results of approvals (docs/devices.md): what a body is taken for depends on its known
/// members alone, not on their order, white space, or on members that nobody knows; and no name comes twice.
internal import Bytes
internal import Crypto
internal import DeviceWire
internal import JSON
@testable internal import Registry

enum DeviceFormHarness {
  static func check(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    // With room for what is added below.
    let limit = Form.valueLimit - 16
    guard let object = (try? JSONValue(parsing: bytes.span, depthLimit: 16, valueLimit: limit))?.object,
      let readers = readers(of: bytes)
    else { return .refused }
    let other = JSONMembers.written(object.members.reversed(), and: "zz_nobody_knows")
    try require(self.readers(of: other) == readers, "other readers for members in another order")
    if let first = object.members.first {
      try require(self.readers(of: JSONMembers.written(object.members + [first])) == nil, "a name twice")
    }
    let result = try? ApprovalProof(checking: bytes.span, by: verifier)
    if let result {
      let again = try? Summary(canonical: result.summary.bytes.span)
      try require(again?.bytes == result.summary.bytes, "a summary that is not canonical")
    }
    return readers.isEmpty && result == nil ? .refused : .accepted
  }

  /// Which forms the body has, by their numbers; nil for what is no body.
  private static func readers(of bytes: [UInt8]) -> [Int]? {
    guard let form = try? Form(body: bytes.span, checkedBy: verifier) else { return nil }
    return forms.indices.filter { index in
      do {
        try forms[index](form)
        return true
      } catch {
        return false
      }
    }
  }

  private static var verifier: P256Verifier { P256Verifier() }

  private static var forms: [(Form) throws -> Void] {
    [
      { _ = try EnrollForm($0) }, { _ = try AttestForm($0) }, { _ = try TokenForm($0) },
      { _ = try RotateForm($0) }, { _ = try HeartbeatForm($0) }, { _ = try IntrospectForm($0) },
      { _ = try EvidenceForm($0) }, { _ = try ApprovalRequest(form: $0) },
      { _ = try OpenPairing(form: $0, token: "") },
      { _ = try PresenceChallengeForm($0) }, { _ = try PresenceForm($0) },
      { _ = try ChallengeCode(bearer: "", form: $0) }, { _ = try IssueCodeForm($0) },
      { _ = try VerifyCode(bearer: "", form: $0) },
      { _ = try DecideApproval(bearer: "", approval: ApprovalID(random: FixedEntropy()), form: $0) },
      { _ = try UseLease(bearer: "", lease: LeaseID(random: FixedEntropy()), form: $0) },
      { _ = try AnswerPairing(PairingID(random: FixedEntropy()), form: $0, evidence: nil) },
      { _ = try ConfirmPairing(PairingID(random: FixedEntropy()), form: $0, token: "") },
    ]
  }
}

private enum JSONMembers {
  static func written(_ members: [JSONObject.Member], and unknown: String? = nil) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    for member in members {
      writer.name(member.name)
      writer.value(member.value)
    }
    if let unknown {
      writer.name(unknown)
      writer.beginArray()
      writer.endArray()
    }
    writer.endObject()
    return writer.bytes
  }
}
