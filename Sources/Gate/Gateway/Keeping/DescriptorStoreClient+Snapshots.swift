/// What a session takes along to the next process beside its slot, so that nothing of it is missing.
internal import Charsets
internal import Conversation
internal import Keeping
internal import Scheduling
internal import SessionWire
internal import System
internal import Telemetry
internal import TelnetWire
internal import Upstream

extension DescriptorStoreClient {
  /// Writes down all that the session has; nothing of it changes any more.
  func pack(_ session: GameSession) {
    guard let kept = session.game.kept, let conversation = session.game.conversation else { return }
    let snapshot = session.game.snapshot(&conversation.state)
    kept.handOver { slot, sequence in
      guard let snapshot else { return }
      do throws(SystemError) {
        try self.snapshots.append(snapshot, slot: slot, sequence: sequence)
      } catch {
        log.snapshotLost(slot: slot, error)
      }
    }
    handedOver.increment()
  }
}

extension GameSide {
  /// Nil where it cannot go on as it is.
  fileprivate func snapshot(_ state: inout ConversationState) -> RestartSnapshot? {
    state.noteQueued(upTo: state.voice.toGame.count)
    let incoming = state.ledger.incoming.snapshot
    let waiting = queue + state.voice.toGame
    guard let telnet = state.voice.telnet.snapshot, waiting.count == incoming.waiting else { return nil }
    return RestartSnapshot(
      outgoing: state.ledger.outgoing.snapshot, incoming: incoming,
      again: state.ledger.outgoing.again.snapshot,
      telnet: telnet, held: state.voice.decoder.heldWord, unread: state.voice.unread, text: state.voice.text,
      toGame: waiting)
  }

  private var queue: [UInt8] {
    switch leg {
    case .some(let leg): leg.unsent.copy(first: leg.unsent.count)
    case nil: []
    }
  }
}
