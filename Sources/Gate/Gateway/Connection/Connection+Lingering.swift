/// The last stage: what waits is sent, each side gets its FIN, and their ends are awaited so that no RST cuts the rest.
internal import Bytes
internal import Sockets
internal import System
internal import Upstream

final class Lingering {
  /// The session that has ended, while its leg to the game has still something to say.
  let session: GameSession?
  /// It had one, whatever became of that.
  let isParting: Bool
  fileprivate var hasSentFinToClient = false
  fileprivate var hasSentFinToGame = false

  init(_ session: GameSession?, isParting: Bool) {
    self.session = session
    self.isParting = isParting
  }

  /// How long the ends of both sides are awaited once all is sent.
  static let time: Duration = .seconds(2)
}

extension Connection {
  func linger(_ lingering: Lingering) {
    let clientDone = lingerOnClient(lingering)
    let gameDone = lingering.session.map { lingerOnGame($0, lingering) } ?? true
    if clientDone, gameDone { close() }
  }

  /// The time for the ends is over, but what waits goes on as long as it is taken.
  func lingerExpired() {
    if isTaken { arm(after: Lingering.time) } else { close() }
  }

  private func lingerOnClient(_ lingering: Lingering) -> Bool {
    switch client.flush(loop.outbox) {
    case .drained: break
    case .blocked: return false
    case .failed: return true
    }
    if !lingering.hasSentFinToClient {
      lingering.hasSentFinToClient = true
      client.socket.finishSending()
    }
    return discardInput()
  }

  private func lingerOnGame(_ session: GameSession, _ lingering: Lingering) -> Bool {
    switch session.game.leg?.resumeSending() {
    case .drained?: break
    case .blocked?: return false
    case .failed?, nil: return true
    }
    if !lingering.hasSentFinToGame {
      lingering.hasSentFinToGame = true
      session.game.leg?.socket.finishSending()
    }
    return discardInput(from: session)
  }

  private func discardInput(from session: GameSession) -> Bool {
    for _ in 0..<Self.discardsPerTurn {
      let result = loop.scratch.withBytes { bytes in
        session.game.leg?.receive(into: &bytes, gapBytes: 0, slotBytes: Self.discardBytes)
      }
      switch result {
      case .bytes?: continue
      case .wouldBlock?: return false
      case .ended?, .failed?, nil: return true
      }
    }
    loop.continueLater(self)
    return false
  }

  /// Reads past what the peer still sends, unread and undecrypted, a bounded amount a turn.
  private func discardInput() -> Bool {
    for _ in 0..<Self.discardsPerTurn {
      switch loop.scratch.withBytes({ bytes in client.socket.receive(into: &bytes) }) {
      case .bytes: continue
      case .wouldBlock: return false
      case .ended, .failed: return true
      }
    }
    loop.continueLater(self)
    return false
  }

  private static let discardsPerTurn = 4
  private static let discardBytes = 8192
}
