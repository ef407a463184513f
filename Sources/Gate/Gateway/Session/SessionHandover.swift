/// A detached session on its way from one loop to another, which alone opens it.
internal import Addresses
internal import Admission
internal import PortcullisProtocol
internal import Time

final class SessionHandover: @unchecked Sendable {
  private var game: GameSide?
  let credential: Credential
  let number: UInt64
  let startedAt: MonotonicTime
  let changedAt: MonotonicTime
  let source: Endpoint
  let isOver: Bool
  let subprotocol: Subprotocol?

  init(_ session: GameSession, _ game: consuming GameSide) {
    self.game = consume game
    credential = session.credential
    number = session.number
    startedAt = session.startedAt
    changedAt = session.changedAt
    source = session.source
    isOver = session.isOver
    subprotocol = session.subprotocol
  }

  /// Of a session of `portcullis.v1` that comes from the process before.
  init(
    _ game: consuming GameSide, credential: Credential, number: UInt64, startedAt: MonotonicTime,
    changedAt: MonotonicTime, source: Endpoint
  ) {
    self.game = consume game
    self.credential = credential
    self.number = number
    self.startedAt = startedAt
    self.changedAt = changedAt
    self.source = source
    isOver = false
    subprotocol = .portcullis
  }

  func takeGame() -> GameSide {
    guard let game = game.take() else { fatalError("SessionHandover: opened twice") }
    return game
  }
}
