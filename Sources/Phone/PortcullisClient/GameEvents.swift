/// What happens in a session, for the one who shows it.

/// The events of one session, for one consumer: `for await event in session.events`.
///
/// The session connects when it is first asked for an event. An event counts as handled when the next one is asked for:
/// only then is the gate told that it need not keep the message. While 64 wait, nothing is read from the gate. Behind
/// `state(.ended)` there is nothing more.
public struct GameEvents: AsyncSequence, Sendable {
  /// What is happening.
  public typealias Element = GameEvent

  let session: GameSession

  /// Asks the session for one event after the other.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let session: GameSession

    /// The next event; nil when there is none to come, or the task is cancelled.
    public mutating func next() async -> GameEvent? { await session.owner.next() }
  }

  /// To be used by one task at a time: each event goes to one.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(session: session) }
}
