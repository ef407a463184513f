/// What becomes of one connection in its turn: a step of the handshake, requests in their order, an answer, a piece.
internal import HTTPWire
internal import Sockets
internal import System

extension AdminLoop {
  enum Outcome {
    /// For its socket, the slow thread, or its deadline.
    case waits
    /// The turn's share is used up.
    case goesOn
    case closes
  }

  /// One request at most: who sends thousands at once takes his turns among the others.
  func proceed(_ connection: AdminConnection, _ bytes: inout MutableSpan<UInt8>) -> Outcome {
    connection.leg.beginTurn()
    switch connection.stage {
    case .handshake:
      switch connection.leg.handshake() {
      case .done:
        connection.move(to: .request, now: now)
        return .goesOn
      case .wouldBlock: return flushed(connection)
      case .later: return .goesOn
      case .failed: return .closes
      }
    case .request: return read(connection, &bytes)
    case .work: return .waits
    case .answer: return finishAnswer(connection)
    case .download: return goOnWithDownload(connection)
    case .lingering: return discard(connection, &bytes)
    }
  }

  /// What TLS has to say by itself.
  private func flushed(_ connection: AdminConnection) -> Outcome {
    connection.leg.flush() == .gone ? .closes : .waits
  }

  private func read(_ connection: AdminConnection, _ bytes: inout MutableSpan<UInt8>) -> Outcome {
    for _ in 0..<Limits.reads {
      switch connection.conversation.next() {
      case .needMore: break
      case .sendContinue: connection.leg.send(Response.interimContinue)
      case .call(let call):
        take(call, from: connection)
        return goOn(connection)
      case .refused(let refused, let isHead, let isClosing):
        reply(refused, to: connection, isHead: isHead, isClosing: isClosing)
        return goOn(connection)
      }
      // Nothing more is taken in while something waits to go out: what comes may make TLS answer.
      switch connection.leg.flush() {
      case .drained: break
      case .blocked: return .waits
      case .gone: return .closes
      }
      let wasBegun = connection.conversation.hasBegun
      var room = bytes._mutatingExtracting(0..<AdminConversation.Limits.readBytes)
      switch connection.leg.read(into: &room) {
      case .bytes(let count):
        connection.conversation.take(room.span.extracting(0..<count))
        if !wasBegun { connection.noteBegun(now: now) }
      case .wouldBlock: return flushed(connection)
      case .later: return .goesOn
      case .ended: return .closes
      }
    }
    return .goesOn
  }

  private func take(_ call: AdminCall, from connection: AdminConnection) {
    let isHead = call.head.method == .head
    connection.manner = AdminReply.Manner(
      date: date, isHead: isHead, isClosing: !call.head.keepsAlive, isChunked: call.head.version == .http11)
    switch routing.outcome(call, over: connection.transport) {
    case .reply(let answer): reply(answer, to: connection, isHead: isHead, isClosing: !call.head.keepsAlive)
    case .work(let request):
      connection.actor = request.actor
      connection.isLooking = !request.isChange
      connection.knownTags = request.isChange ? [] : call.head.listElements("if-none-match")
      if worker.take(request, from: connection.token) {
        connection.move(to: .work, now: now)
      } else {
        reply(.busy(), to: connection, isHead: isHead, isClosing: !call.head.keepsAlive)
      }
    }
  }

  func reply(_ reply: AdminReply, to connection: AdminConnection, isHead: Bool, isClosing: Bool) {
    connection.manner = AdminReply.Manner(date: date, isHead: isHead, isClosing: isClosing, isChunked: true)
    connection.leg.send(reply.encoded(connection.manner))
    connection.move(to: .answer, now: now)
  }

  private func goOn(_ connection: AdminConnection) -> Outcome {
    connection.stage == .answer ? finishAnswer(connection) : .waits
  }

  private func finishAnswer(_ connection: AdminConnection) -> Outcome {
    switch connection.leg.flush() {
    case .drained: break
    case .blocked: return .waits
    case .gone: return .closes
    }
    guard connection.manner.isClosing else {
      connection.move(to: .request, now: now)
      return .goesOn
    }
    connection.leg.finish()
    _ = connection.leg.flush()
    connection.leg.socket.finishSending()
    connection.move(to: .lingering, now: now)
    return .goesOn
  }

  private func discard(_ connection: AdminConnection, _ bytes: inout MutableSpan<UInt8>) -> Outcome {
    for _ in 0..<Limits.reads {
      switch connection.leg.discard(with: &bytes) {
      case .bytes: continue
      case .wouldBlock: return .waits
      case .later: return .goesOn
      case .ended: return .closes
      }
    }
    return .goesOn
  }

  // MARK: What the slow thread has made

  func give(_ answer: AdminAnswer, to connection: AdminConnection) {
    let manner = connection.manner
    // A change has been made, and its answer shows little; what was searched for is nobody's any more.
    if connection.isLooking, let actor = connection.actor, !routing.holds(actor) {
      if case .stream(_, _, let body) = answer { worker.take(.release(body)) }
      return reply(.unauthorized(), to: connection, isHead: manner.isHead, isClosing: manner.isClosing)
    }
    guard case .stream(_, _, let body) = answer else {
      let made = AdminReply(answer, isVersioned: false).answering(connection.knownTags)
      return reply(made, to: connection, isHead: manner.isHead, isClosing: manner.isClosing)
    }
    guard downloading == nil else {
      worker.take(.release(body))
      return reply(.busy(), to: connection, isHead: manner.isHead, isClosing: manner.isClosing)
    }
    // Without lengths the end of the connection is the end of the download.
    let isClosing = manner.isClosing || !manner.isChunked
    connection.manner = AdminReply.Manner(
      date: date, isHead: manner.isHead, isClosing: isClosing, isChunked: manner.isChunked)
    connection.leg.send(AdminReply(answer, isVersioned: false).encoded(connection.manner))
    guard !manner.isHead else {
      worker.take(.release(body))
      return connection.move(to: .answer, now: now)
    }
    downloading = connection.token
    connection.body = body
    connection.hasAllPieces = false
    connection.awaitsPiece = false
    connection.move(to: .download, now: now)
  }

  func give(_ piece: [UInt8]?, to connection: AdminConnection) {
    guard connection.stage == .download else { return }
    connection.awaitsPiece = false
    connection.move(to: .download, now: now)
    if let piece {
      if !piece.isEmpty { connection.leg.send(connection.manner.isChunked ? Chunk.encoded(piece) : piece) }
    } else {
      connection.hasAllPieces = true
      if connection.manner.isChunked { connection.leg.send(Chunk.end) }
    }
  }

  /// The next piece is made when the one before has been taken: the listener holds one.
  private func goOnWithDownload(_ connection: AdminConnection) -> Outcome {
    guard !connection.awaitsPiece, let body = connection.body else { return .waits }
    switch connection.leg.flush() {
    case .drained: break
    case .blocked: return .waits
    case .gone: return .closes
    }
    guard connection.hasAllPieces else {
      // Cut off, so that what has come is not taken for the whole.
      if let actor = connection.actor, !routing.holds(actor) { return .closes }
      connection.awaitPiece()
      worker.take(.piece(connection.token, body))
      return .waits
    }
    connection.body = nil
    downloading = nil
    worker.take(.release(body))
    connection.move(to: .answer, now: now)
    return finishAnswer(connection)
  }
}
