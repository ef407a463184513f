/// Log lines about sessions: without a connection, resumed, from one process to the next, ended.
internal import Addresses
package import Admission
internal import Bytes
internal import KeyStore
internal import Logging
internal import Logs
package import System
internal import Time
internal import WebSocketWire

extension GateLogger {
  package func sessionDetached(_ peer: PeerName, _ session: SessionName, _ end: ConnectionEnd?) {
    log.write(.info, "session_detached") { line in
      Self.begin(&line, peer, session)
      if let keyID = session.credential.keyID { line.add("keyId", keyID.short) }
      if let code = end?.closeCode { line.add("closeCode", String(code.rawValue)) }
      if let detail = end?.detail { line.add("detail", detail) }
      line.add("reason", end?.word ?? "closed")
    }
  }

  /// - Parameter missing: how many messages the app will never get.
  package func sessionResumed(_ peer: PeerName, _ session: SessionName, missing: Int?, waited: Duration) {
    log.write(.info, "session_resumed") { line in
      Self.begin(&line, peer, session)
      if let keyID = session.credential.keyID { line.add("keyId", keyID.short) }
      line.add("gap", missing.map { String($0) } ?? "unknown")
      line.add("waitedMs", String(waited.wholeMilliseconds))
    }
  }

  /// Something that an app or its game has said could not be passed on.
  /// - Parameters:
  ///   - step: what the last of it was.
  ///   - count: how much of it since the last such line.
  package func messagesLeftOut(_ session: SessionName, step: String, count: Int) {
    log.decision(
      "message_left_out", code: "",
      fields: [
        "session": "\(session.number)", "source": "\(session.source.peerDescription)",
        "step": "\(step)", "count": "\(count)",
      ])
  }

  /// Without a connection, and given up: for others, or as its time is over.
  package func sessionLetGo(_ session: SessionName, _ end: SessionEnd, waited: Duration) {
    log.write(.info, "session_let_go") { line in
      line.add("session", String(session.number))
      line.add("source", session.source.peerDescription)
      if let keyID = session.credential.keyID { line.add("keyId", keyID.short) }
      line.add("reason", end.word)
      line.add("waitedMs", String(waited.wholeMilliseconds))
    }
  }

  // MARK: From one process to the next

  /// Once until the store takes something again.
  package func keepingFailed(_ error: SystemError) {
    logger.error(
      "keeping_failed", metadata: ["reason": "\(error)", "result": "new sessions do not outlive a restart"])
  }

  package func slotsUnreadable(_ reason: String) {
    logger.error(
      "slots_unreadable", metadata: ["reason": "\(reason)", "result": "sessions of the process before end"])
  }

  /// One of the process before goes on.
  package func sessionKept(_ session: SessionName, doubt: Int) {
    log.write(.info, "session_kept") { line in
      line.add("session", String(session.number))
      line.add("source", session.source.peerDescription)
      if let keyID = session.credential.keyID { line.add("keyId", keyID.short) }
      line.add("doubt", String(doubt))
    }
  }

  package func sessionDropped(slot: Int, reason: String, detail: String?) {
    var members: Logger.Metadata = ["slot": "\(slot)", "reason": "\(reason)"]
    if let detail { members["detail"] = "\(detail)" }
    logger.warning("session_dropped", metadata: members)
  }

  package func sessionsTakenUp(_ count: Int, ended: Int) {
    logger.notice("sessions_taken_up", metadata: ["sessions": "\(count)", "ended": "\(ended)"])
  }

  package func sessionsHandedOver(_ count: Int) {
    logger.notice("sessions_handed_over", metadata: ["sessions": "\(count)"])
  }

  /// Without its snapshot it goes on as after a crash.
  package func snapshotLost(slot: Int? = nil, _ error: SystemError) {
    logger.error(
      "luggage_lost", metadata: ["slot": "\(slot.map(String.init) ?? "all")", "reason": "\(error)"])
  }

  /// What a session has come to, and the connection that carried it at its end; nil where there was none.
  package struct Ended {
    package let peer: PeerName?
    package let bytesFromGame: UInt64
    package let bytesFromPlayer: UInt64
    package let duration: Duration

    package init(peer: PeerName?, bytesFromGame: UInt64, bytesFromPlayer: UInt64, duration: Duration) {
      self.peer = peer
      self.bytesFromGame = bytesFromGame
      self.bytesFromPlayer = bytesFromPlayer
      self.duration = duration
    }
  }

  package func sessionEnded(_ session: SessionName, _ end: ConnectionEnd?, _ ended: Ended) {
    let keyID = session.credential.keyID
    log.write(.info, "session_ended") { line in
      if let peer = ended.peer { line.add("connection", peer.text) }
      line.add("session", String(session.number))
      line.add("source", session.source.peerDescription)
      if let keyID { line.add("keyId", keyID.short) }
      line.add("bytesFromGame", String(ended.bytesFromGame))
      line.add("bytesFromPlayer", String(ended.bytesFromPlayer))
      if let code = end?.closeCode { line.add("closeCode", String(code.rawValue)) }
      if let detail = end?.detail { line.add("detail", detail) }
      line.add("durationMs", String(ended.duration.wholeMilliseconds))
      line.add("reason", end?.word ?? "closed")
    }
  }
}
