/// Log lines about sessions: without a connection, resumed, from one process to the next, ended.
internal import Addresses
internal import Bytes
internal import KeyStore
internal import Logging
internal import Logs
internal import System
internal import WebSocketWire

extension GateLogger {
  func sessionDetached(_ connection: Connection, _ session: GameSession, _ end: ConnectionEnd?) {
    log.write(.info, "session_detached") { line in
      Self.begin(&line, connection, session)
      if let keyID = session.credential.keyID { line.add("keyId", keyID.short) }
      if let code = end?.closeCode { line.add("closeCode", String(code.rawValue)) }
      if let detail = end?.detail { line.add("detail", detail) }
      line.add("reason", end?.word ?? "closed")
    }
  }

  /// - Parameter missing: how many messages the app will never get.
  func sessionResumed(_ connection: Connection, _ session: GameSession, missing: Int?) {
    log.write(.info, "session_resumed") { line in
      Self.begin(&line, connection, session)
      if let keyID = session.credential.keyID { line.add("keyId", keyID.short) }
      line.add("gap", missing.map { String($0) } ?? "unknown")
      line.add("waitedMs", String((session.absence?.lasted ?? .zero).wholeMilliseconds))
    }
  }

  /// Something that an app or its game has said could not be passed on.
  func messageLeftOut(_ session: GameSession, _ leftOut: LeftOut) {
    log.decision(
      "message_left_out", code: "",
      fields: [
        "session": "\(session.number)", "source": "\(session.source.peerDescription)",
        "step": "\(leftOut.word)", "count": "\(leftOut.count)",
      ])
  }

  /// Without a connection, and given up: for others, or as its time is over.
  func sessionLetGo(_ session: GameSession, _ end: SessionEnd, now: MonotonicTime) {
    log.write(.info, "session_let_go") { line in
      line.add("session", String(session.number))
      line.add("source", session.source.peerDescription)
      if let keyID = session.credential.keyID { line.add("keyId", keyID.short) }
      line.add("reason", end.word)
      line.add("waitedMs", String((now - session.changedAt).wholeMilliseconds))
    }
  }

  // MARK: From one process to the next

  /// Once until the store takes something again.
  func keepingFailed(_ error: SystemError) {
    logger.error(
      "keeping_failed", metadata: ["reason": "\(error)", "result": "new sessions do not outlive a restart"])
  }

  func slotsUnreadable(_ reason: String) {
    logger.error(
      "slots_unreadable", metadata: ["reason": "\(reason)", "result": "sessions of the process before end"])
  }

  /// One of the process before goes on.
  func sessionKept(_ session: GameSession) {
    log.write(.info, "session_kept") { line in
      line.add("session", String(session.number))
      line.add("source", session.source.peerDescription)
      if let keyID = session.credential.keyID { line.add("keyId", keyID.short) }
      line.add("doubt", String(session.game.conversation?.state.doubt ?? 0))
    }
  }

  func sessionDropped(slot: Int, _ reason: TakingUp.Reason) {
    var members: Logger.Metadata = ["slot": "\(slot)", "reason": "\(reason.word)"]
    if case .unreadable(let error) = reason { members["detail"] = "\(error)" }
    logger.warning("session_dropped", metadata: members)
  }

  func sessionsTakenUp(_ count: Int, ended: Int) {
    logger.notice("sessions_taken_up", metadata: ["sessions": "\(count)", "ended": "\(ended)"])
  }

  func sessionsHandedOver(_ count: Int) {
    logger.notice("sessions_handed_over", metadata: ["sessions": "\(count)"])
  }

  /// Without its luggage it goes on as after a crash.
  func luggageLost(slot: Int? = nil, _ error: SystemError) {
    logger.error(
      "luggage_lost", metadata: ["slot": "\(slot.map(String.init) ?? "all")", "reason": "\(error)"])
  }

  func sessionEnded(_ session: GameSession, _ end: ConnectionEnd?, now: MonotonicTime) {
    let keyID = session.credential.keyID
    let (fromGame, fromPlayer) = (session.game.bytesFromGame, session.game.bytesFromPlayer)
    let duration = now - session.startedAt
    log.write(.info, "session_ended") { line in
      if let connection = session.connection { line.add("connection", connection.name) }
      line.add("session", String(session.number))
      line.add("source", session.source.peerDescription)
      if let keyID { line.add("keyId", keyID.short) }
      line.add("bytesFromGame", String(fromGame))
      line.add("bytesFromPlayer", String(fromPlayer))
      if let code = end?.closeCode { line.add("closeCode", String(code.rawValue)) }
      if let detail = end?.detail { line.add("detail", detail) }
      line.add("durationMs", String(duration.wholeMilliseconds))
      line.add("reason", end?.word ?? "closed")
    }
  }
}
