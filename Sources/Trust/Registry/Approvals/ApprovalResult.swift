/// What came of a request, with all that anybody needs to check it (docs/approvals.md, "Results").
internal import Bytes
internal import DeviceWire
internal import JSON
internal import System

extension Transaction {
  func result(of approval: ApprovalRecord) throws(CallFailure) -> [UInt8] {
    let votes = try votes(on: approval)
    let lease = try lease(of: approval)
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("id", approval.id.text)
    writer.member("server_id", server.text)
    writer.member("state", approval.state.word)
    if approval.lacksDevices { writer.member("reason", "no_device") }
    if let remains = approval.remains {
      writer.member("summary_hash", remains.summaryHash.hex)
    } else {
      writer.member("summary", Base64.encodeURL(approval.summary.span))
    }
    writer.member("created_at", approval.createdAt)
    writer.member("expires_at", approval.expiresAt)
    if let ended = approval.endedAt { writer.member("decided_at", ended) }
    writer.name("votes")
    writer.beginArray()
    for vote in votes { vote.write(to: &writer) }
    writer.endArray()
    if let user = approval.operatorUser {
      writer.name("operator")
      writer.beginObject()
      writer.name("uid")
      writer.value(user)
      writer.endObject()
    }
    if let lease { lease.write(to: &writer, at: UnixSeconds(now)) }
    writer.endObject()
    return writer.bytes
  }
}

extension VoteRecord {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("device_id", device.text)
    writer.member("public_key", Base64.encodeURL((P256Point.subjectPublicKeyInfoHead + key.x963).span))
    writer.member("decision", vote.decision.rawValue)
    writer.member("match_code", vote.matchCode.text)
    writer.member("issued_at", issuedAt)
    writer.member("level", level.rawValue)
    writer.member("uv", verification.rawValue)
    writer.member("signature", Base64.encodeURL(signature.der.span))
    writer.endObject()
  }
}

extension LeaseRecord {
  /// One that has ended is good for nothing any more.
  fileprivate func write(to writer: inout JSONWriter, at now: UnixSeconds) {
    writer.name("lease")
    writer.beginObject()
    writer.member("id", id.text)
    writer.member("expires_at", expiresAt)
    writer.name("uses_left")
    writer.value(isOver(at: now) ? 0 : usesLeft)
    writer.endObject()
  }

  func isOver(at now: UnixSeconds) -> Bool { endedAt != nil || now >= expiresAt }
}

extension JSONWriter {
  fileprivate mutating func member(_ name: String, _ text: String) {
    self.name(name)
    value(text)
  }

  fileprivate mutating func member(_ name: String, _ time: UnixSeconds) {
    self.name(name)
    value(time.value)
  }
}
