/// A phone's requests about approvals: what is open, and what its person says to it (docs/approvals.md, "Requests").
internal import Bytes
package import Crypto
package import DeviceWire

extension PhoneRequest {
  /// - Parameter cursor: of the answer before; what has come since then, for which the gate is to wait.
  package static func approvals(after cursor: String? = nil) -> Self {
    guard let cursor else { return Self(get: "/approvals", needsToken: true) }
    return Self(
      get: "/approvals?after=\(cursor)&wait=\(longestWait)", needsToken: true, waitSeconds: longestWait)
  }

  /// - Parameter key: unlocked by a person for this one signature.
  package static func vote(
    _ vote: Vote, on approval: OpenApproval, by device: DeviceID, at server: ServerID, with key: PhoneKey,
    issuedAt: UnixSeconds
  ) throws(IssuingError) -> Self {
    let message = DeviceMessage.approval(
      server: server, request: approval.id, device: device, vote: vote, summaryHash: approval.summary.hash,
      issuedAt: issuedAt, expiresAt: approval.expiresAt)
    var form = PhoneForm()
    form.add("device_id", device.text)
    form.add("decision", vote.decision.rawValue)
    form.add("match_code", vote.matchCode.isNone ? nil : vote.matchCode.text)
    form.add("issued_at", issuedAt.value)
    form.add("signature", try key.sign(message))
    return Self(post: "/approvals/\(approval.id.text)/decision", form, needsToken: true)
  }
}
