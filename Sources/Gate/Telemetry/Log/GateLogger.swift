/// The gate's events as log lines (docs/logs.md, "Logs"): one method for each event, none of which sees a nonce,
/// key or payload.
package import Addresses
package import Admission
package import DeviceWire
package import Bytes
internal import HTTPWire
package import KeyStore
package import Logging
package import Logs
internal import PortcullisProtocol
package import Registry
internal import Sockets
package import System
package import Time
package import TLS

package struct GateLogger: Sendable {
  package let log: GateLog
  package let logger: Logger

  package init(_ log: GateLog) {
    self.log = log
    logger = log.logger(label: "gate")
  }

  /// From time to time: says how many lines were left out under a flood.
  package func tellLeftOut() { log.tellLeftOut() }

  // MARK: Before admission

  package func turnedAway(_ peer: Endpoint, reason: String) {
    log.decision(
      "turned_away", code: "",
      fields: ["source": "\(peer.peerDescription)", "result": "refused", "step": "\(reason)"])
  }

  package func acceptPaused(_ error: SystemError) {
    logger.warning("accept_paused", metadata: ["reason": "\(error)"])
  }

  package func handshakeFailed(_ peer: PeerName, reason: String) {
    log.decision(
      "handshake_failed", code: "", fields: members(peer, ["result": "refused", "step": "\(reason)"]))
  }

  package func refused(_ peer: PeerName, _ refusal: Refusal) {
    log.decision("refused", code: refusal.code.rawValue, fields: members(peer, refusal))
  }

  private func members(_ peer: PeerName, _ refusal: Refusal) -> Logger.Metadata {
    var members = members(
      peer, ["result": "refused", "code": "\(refusal.code.rawValue)", "step": "\(refusal.step)"])
    if let keyID = refusal.keyID { members["keyId"] = "\(keyID.short)" }
    if let chain = refusal.chain { members["chain"] = "\(chain)" }
    if let trace = peer.trace { members["trace"] = "\(trace.text)" }
    return members
  }

  package func certificateRefused(_ peer: PeerName, subject: String, reason: String) {
    log.decision(
      "client_certificate_refused", code: "", level: .notice,
      fields: members(peer, ["subject": LogText.peer(subject), "reason": "\(reason)"]))
  }

  /// A connection that is ended for its TLS messages, in whatever stage.
  package func tlsRefused(_ peer: PeerName, _ excess: TLSExcess) {
    log.decision(
      "tls_refused", code: "",
      fields: members(peer, ["result": "refused", "step": "\(excess.rawValue)"]))
  }

  package func leftEarly(_ peer: PeerName, keyID: KeyIdentifier?) {
    var members = members(peer, ["step": "before_101"])
    if let keyID { members["keyId"] = "\(keyID.short)" }
    logger.info("left", metadata: members)
  }

  package func backendFailed(_ peer: PeerName, address: String, reason: String) {
    logger.warning(
      "backend_failed", metadata: members(peer, ["address": "\(address)", "reason": "\(reason)"]))
  }

  package func backendUnresolved(reason: String) {
    logger.warning("backend_unresolved", metadata: ["reason": "\(reason)"])
  }

  /// An expired certificate is an error: clients refuse it, or those that it vouches for are refused.
  package func certificate(_ notice: CertificateWatch.Notice) {
    var members: Logger.Metadata = [
      "certificate": "\(notice.certificate.role.rawValue)",
      "subject": LogText.peer(notice.certificate.subject),
      "notAfter": "\(notice.certificate.notAfter.timestamp)",
    ]
    var level = Logger.Level.warning
    switch notice.standing {
    case .good: return
    case .ends(let days): members["days"] = "\(days)"
    case .notYetValid: members["notBefore"] = "\(notice.certificate.notBefore.timestamp)"
    case .expired: level = .error
    }
    logger.log(level: level, "\(notice.standing.word)", metadata: members)
  }

  package func registry(_ event: RegistryEvent) {
    switch event {
    case .opened(let devices, let duration):
      logger.info(
        "registry_opened", metadata: ["devices": "\(devices)", "durationMs": "\(duration.wholeMilliseconds)"])
    case .clockBehind(let span):
      logger.warning("clock_behind", metadata: ["seconds": "\(span.components.seconds)"])
    case .unavailable(let reason): logger.error("registry_unavailable", metadata: ["reason": "\(reason)"])
    case .available: logger.notice("registry_available")
    case .revocationsLost(let lost):
      for name in lost { logger.critical("revocation_lost", metadata: ["revokes": "\(name)"]) }
    case .auditHead(let head):
      var members: Logger.Metadata = [
        "gate": "\(AuditHead.gate)", "seq": "\(head.end.sequence)", "hash": "\(head.end.hash.hex)",
        "at": "\(head.at.value)", "kid": "\(head.keyID)",
        "signature": "\(Base64.encodeURL(head.signature.span))",
      ]
      if let signer = head.signer {
        members["server_id"] = "\(signer.server.text)"
        members["key"] = "\(Base64.encodeURL(signer.key.x963.span))"
      }
      logger.info("audit_head", metadata: members)
    }
  }

  // MARK: Revoked certificates of Android phones

  package func revocationsRead(_ count: Int, _ fetchedAt: UnixTime) {
    logger.notice(
      "revocations_read", metadata: ["certificates": "\(count)", "fetchedAt": "\(fetchedAt.timestamp)"])
  }

  package func revocationsUnusable(_ reason: String) {
    logger.error(
      "revocations_unusable", metadata: ["reason": "\(reason)", "result": "no key attestation is taken"])
  }

  package func revocationsStale(seconds: Int64) {
    logger.error(
      "revocations_stale", metadata: ["ageSeconds": "\(seconds)", "result": "no key attestation is taken"])
  }

  /// What spoke against a phone that has asked for a code; where it was stands nowhere.
  package func doubts(_ report: RiskReport) {
    logger.info(
      "risk",
      metadata: [
        "device": "\(report.device.text)", "reasons": "\(report.reasons)", "score": "\(report.score)",
        "band": "\(report.band)", "enforced": "\(report.isEnforced)",
      ])
  }

  /// Who has reported it stands in the audit.
  package func serviceBarred(_ name: String, reports: Int) {
    logger.warning("service_barred", metadata: ["service": "\(name)", "reports": "\(reports)"])
  }

  package func strangeMembers(_ device: DeviceID, _ found: StrangeMembers) {
    var metadata: Logger.Metadata = [
      "device": "\(device.text)", "in": "\(found.place.rawValue)", "count": "\(found.count)",
    ]
    if !found.remedies.isEmpty { metadata["write"] = "\(found.remedies)" }
    logger.notice("members_unknown", metadata: metadata)
  }

  /// It holds in memory, and comes to the disk with the next snapshot.
  package func revocationLost(_ keyID: KeyIdentifier) {
    logger.error("revocation_not_written", metadata: ["keyId": "\(keyID.short)"])
  }

  package func drainingBegun(sessions: Int, detached: Int) {
    logger.notice("drain_begun", metadata: ["sessions": "\(sessions)", "detached": "\(detached)"])
  }

  package func drainingEnded(sessions: Int, detached: Int) {
    logger.notice("drain_ended", metadata: ["sessions": "\(sessions)", "detached": "\(detached)"])
  }

  package func keysImported(_ count: Int, _ imported: KeyImport) {
    logger.notice(
      "keys_imported",
      metadata: [
        "keys": "\(count)", "from": "\(imported.source.rawValue)",
        "goodUntil": "\(imported.goodUntil.timestamp)",
      ])
  }

  package func importsRemoved(_ count: Int) {
    logger.notice("imported_keys_removed", metadata: ["keys": "\(count)"])
  }

  package func receiptLost(_ keyID: KeyIdentifier, _ error: SystemError) {
    logger.error("receipt_not_kept", metadata: ["keyId": "\(keyID.short)", "reason": "\(error)"])
  }

  // MARK: Decisions

  package func registered(_ peer: PeerName, _ keyID: KeyIdentifier) {
    log.write(.info, "registered") { line in
      Self.begin(&line, peer)
      line.add("result", "accepted")
      line.add("keyId", keyID.short)
    }
  }

  /// A request about devices that has changed something.
  package func answered(_ peer: PeerName, endpoint: String) {
    log.write(.info, "device_request") { line in
      Self.begin(&line, peer)
      line.add("result", "accepted")
      line.add("endpoint", endpoint)
      if let trace = peer.trace { line.add("trace", trace.text) }
    }
  }

  package func admitted(_ peer: PeerName, _ session: SessionName, waited: Duration) {
    log.write(.info, "admitted") { line in
      Self.begin(&line, peer, session)
      line.add("result", "accepted")
      if let keyID = session.credential.keyID { line.add("keyId", keyID.short) }
      line.add("credential", session.credential.word)
      if let device = session.credential.deviceID { line.add("device", device.text) }
      if case .clientCertificate(let subject, _, _) = session.credential {
        line.add("subject", peer: subject)
      }
      line.add("waitedMs", String(waited.wholeMilliseconds))
    }
  }

  // MARK: Members

  package static func begin(_ line: inout LogLineWriter, _ peer: PeerName, _ session: SessionName) {
    line.add("connection", peer.text)
    line.add("session", String(session.number))
    line.add("source", peer.source.peerDescription)
  }

  package static func begin(_ line: inout LogLineWriter, _ peer: PeerName) {
    line.add("connection", peer.text)
    line.add("source", peer.source.peerDescription)
  }

  private func members(_ peer: PeerName, _ more: Logger.Metadata) -> Logger.Metadata {
    var members = more
    members["connection"] = "\(peer.text)"
    members["source"] = "\(peer.source.peerDescription)"
    return members
  }
}
