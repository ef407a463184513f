/// The result of a request, checked by whoever has it and with nothing else: `portcullis verify`.
///
/// It shows that these keys have signed for this summary. Whose keys they are, and that an operator has agreed, is the
/// gate's word.
internal import ApprovalPolicy
package import Bytes
package import Crypto
package import DeviceWire
internal import JSON

package struct ApprovalProof: Sendable {
  package let id: ApprovalID
  package let state: String
  package let summary: Summary
  package let votes: [SignedVote]

  /// One that holds.
  package struct SignedVote: Sendable {
    package let device: DeviceID
    package let vote: Vote
    /// SHA-256 of the approval key's SPKI: what a device is known by to others.
    package let keyHash: Bytes32
    let level: Level
    let verification: UserVerification
    let issuedAt: UnixSeconds
  }

  /// The rules, in the order in which they are looked at.
  package enum Step: String, Error, CaseIterable, Sendable {
    case form, summary, times, signature, once, state, level, code, quorum

    package var rule: String {
      switch self {
      case .form: "it has the members of a result, each in its form"
      case .summary: "the summary is there, and canonical: a day after the end the gate keeps its hash alone"
      case .times: "its times are in order, and the request was not open longer than may be"
      case .signature: "each vote was signed, for this server, request, summary and time, by its key"
      case .once: "each device, and each key, has voted once"
      case .state: "the votes lead to the state"
      case .level:
        "each approving device had the level and the verification of a person that the summary asks for"
      case .code: "all who approved have sent the same code"
      case .quorum: "so many have approved as the summary asks for"
      }
    }
  }

  package init(checking bytes: Span<UInt8>, by verifier: P256Verifier) throws(Step) {
    let form: Form
    let result: Members
    do throws(FormError) {
      form = try Form(body: bytes, checkedBy: verifier)
      result = try Members(form, verifier)
    } catch {
      throw .form
    }
    guard let bytes = result.summary else { throw .summary }
    do throws(CanonicalJSONError) {
      summary = try Summary(canonical: bytes.span)
    } catch {
      throw .summary
    }
    id = result.id
    state = result.state.word
    guard result.createdAt == summary.createdAt, result.isInOrder else { throw .times }
    for vote in result.votes where !vote.isSigned(result, summary, verifier) { throw .signature }
    votes = result.votes.map(\.signed)
    guard Set(votes.map(\.device)).count == votes.count, Set(votes.map(\.keyHash)).count == votes.count else {
      throw .once
    }
    try checkState(result.state)
  }

  private func checkState(_ state: ApprovalRecord.State) throws(Step) {
    let approvals = votes.filter { $0.vote.decision == .approve }
    let denials = votes.filter { $0.vote.decision == .deny }
    let reports = votes.filter { $0.vote.decision == .report }
    switch state {
    case .reported: guard reports.count == 1, denials.isEmpty else { throw .state }
    // An operator's denial, and one for wrong codes, is nobody's signature.
    case .denied: guard reports.isEmpty, denials.count <= 1 else { throw .state }
    case .pending, .expired, .cancelled, .approved:
      guard reports.isEmpty, denials.isEmpty else { throw .state }
    }
    guard state == .approved else { return }
    let policy = summary.policy
    guard
      approvals.allSatisfy({ $0.level >= policy.level && $0.verification >= policy.userVerification })
    else { throw .level }
    guard Set(approvals.map(\.vote.matchCode)).count <= 1 else { throw .code }
    if policy.factors.contains("device"), approvals.count < policy.quorum { throw .quorum }
  }
}

/// The members of a result, each by itself in order.
private struct Members {
  let id: ApprovalID
  let server: ServerID
  let state: ApprovalRecord.State
  let summary: [UInt8]?
  let createdAt: UnixSeconds
  let expiresAt: UnixSeconds
  let decidedAt: UnixSeconds?
  let votes: [VoteMember]

  init(_ form: Form, _ verifier: P256Verifier) throws(FormError) {
    id = try form.identifier("id")
    server = try form.identifier("server_id")
    state = try form.text("state") { ApprovalRecord.State(word: $0) }
    summary = try form.optionalText("summary") { Base64.decode(Array($0.utf8).span) }
    createdAt = try form.required("created_at") { $0.integer.flatMap { UnixSeconds($0) } }
    expiresAt = try form.required("expires_at") { $0.integer.flatMap { UnixSeconds($0) } }
    decidedAt = try form.optional("decided_at") { $0.integer.flatMap { UnixSeconds($0) } }
    var votes: [VoteMember] = []
    for value in try form.required("votes", { $0.array }) {
      guard let object = value.object else { throw FormError("votes") }
      votes.append(try VoteMember(Form(object, checkedBy: verifier), verifier))
    }
    self.votes = votes
  }

  var isInOrder: Bool {
    guard ApprovalBounds.seconds.contains(Int(clamping: expiresAt - createdAt)) else { return false }
    guard (decidedAt == nil) == (state == .pending) else { return false }
    guard let decidedAt else { return true }
    return decidedAt >= createdAt && decidedAt <= expiresAt
  }
}

private struct VoteMember {
  let signed: ApprovalProof.SignedVote
  private let key: DevicePublicKey
  private let signature: DeviceSignature

  init(_ form: Form, _ verifier: P256Verifier) throws(FormError) {
    key = try form.text("public_key") { DevicePublicKey(base64: $0, checkedBy: verifier) }
    signature = try form.signature("signature")
    let decision = try form.text("decision") { Decision(rawValue: $0) }
    let code = try form.optionalText("match_code") { MatchCode($0) } ?? .none
    guard let vote = Vote(decision, matchCode: code) else { throw FormError("match_code") }
    signed = ApprovalProof.SignedVote(
      device: try form.identifier("device_id"), vote: vote, keyHash: key.hash,
      level: try form.text("level") { Level(rawValue: $0) },
      verification: try form.text("uv") { UserVerification(rawValue: $0) },
      issuedAt: try form.required("issued_at") { $0.integer.flatMap { UnixSeconds($0) } })
  }

  func isSigned(_ result: Members, _ summary: Summary, _ verifier: P256Verifier) -> Bool {
    let message = DeviceMessage.approval(
      server: result.server, request: result.id, device: signed.device, vote: signed.vote,
      summaryHash: summary.hash, issuedAt: signed.issuedAt, expiresAt: result.expiresAt)
    return signature.isValid(for: message, by: key, verifier: verifier)
  }
}
