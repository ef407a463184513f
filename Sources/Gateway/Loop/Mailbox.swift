/// What other threads tell a loop: results of work beside it, and orders about its connections.
internal import Bytes
internal import KeyStore
internal import Sockets
internal import Synchronization
internal import System
internal import TLS

enum LoopMessage: Sendable {
  /// The counter of an admission is durable, or is not.
  case committed(Token, KeyStore.CommitResult)
  /// The attestation is good, and the key on its way to the disk.
  case registrationCommits(Token)
  case registered(Token, RegistrationOutcome)
  /// The key was revoked, or a newer session took the place.
  case end(Token, SessionEnd)
  /// Work by these settings from now on, and say so.
  case reload(LoopSettings, RollCall)
  /// Close all sessions with 1001, spread over `spread`; refuse new ones.
  case drain(spread: Duration)
  /// Close what is left.
  case abandon
  /// Describe the sessions, for the control socket.
  case listSessions(@Sendable ([SessionDescription]) -> Void)
  /// Say that the loop turns.
  case rollCall(RollCall)
  case stop
}

final class Mailbox: Sendable {
  private let messages = Mutex<[LoopMessage]>([])
  private let wakeUp: WakeUp

  init() throws(SystemError) {
    wakeUp = try WakeUp()
  }

  func register(with poller: borrowing Poller) throws(SystemError) {
    try wakeUp.register(with: poller, token: Token.mailbox.rawValue)
  }

  func post(_ message: LoopMessage) {
    let wasEmpty = messages.withLock { messages in
      messages.append(message)
      return messages.count == 1
    }
    if wasEmpty { wakeUp.signal() }
  }

  func takeAll() -> [LoopMessage] {
    wakeUp.clear()
    return messages.withLock { messages in
      let taken = messages
      messages = []
      return taken
    }
  }
}
