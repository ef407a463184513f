/// The messages that a loop's sessions keep: their sum over all loops, and who gives way when it is too large.
internal import Admission
internal import Configuration
internal import Conversation
internal import Scheduling
internal import System

extension Loop {
  /// Keeps the sum of all sessions' messages; when it is too large, the fullest of those without a connection lose their
  /// oldest ones.
  func accountBuffers(of session: GameSession) {
    guard let conversation = session.game.conversation else { return }
    noteBuffers(of: session, conversation, changedBy: conversation.state.takeBufferChange())
  }

  func noteBuffers(of session: GameSession, _ conversation: SessionConversation, changedBy change: Int) {
    let sum = shared.buffers.change(by: change)
    let limit = settings.limits.sessionBuffersBytes
    guard change > 0, sum > MemoryRebalancing.mark(of: limit) else { return }
    if let round = shared.rebalancing.begin(shared.mailboxes, limit: limit, now: now) {
      beginRebalancing(round)
    }
    guard session.connection == nil else { return }
    let excess = shared.buffers.value - limit
    // There is nothing to be had, or it comes too late: it gives back what it took, but keeps its newest.
    if excess > (shared.rebalancing.isPaused(at: now) ? 0 : MemoryRebalancing.slack(of: limit)) {
      let held = conversation.state.heldBytes
      conversation.state.evict(downTo: max(held / 2, held - change))
      _ = shared.buffers.change(by: conversation.state.takeBufferChange())
    }
  }

  func giveBackBuffers(of session: GameSession) {
    guard let conversation = session.game.conversation else { return }
    conversation.state.forgetMessages()
    _ = shared.buffers.change(by: conversation.state.takeBufferChange())
  }

  private func beginRebalancing(_ round: RebalancingRound) {
    for other in shared.mailboxes.indices where other != index { shared.mailboxes[other].post(.level(round)) }
    tell(round)
  }

  /// What those of its sessions keep that have no connection.
  func tell(_ round: RebalancingRound) {
    var entries: [MemoryRebalancing.Entry] = []
    if firstToGo != nil {
      sessions.forEach { session in
        guard session.connection == nil, let conversation = session.game.conversation else { return }
        let bytes = conversation.state.heldBytes
        if bytes > 0 {
          entries.append(MemoryRebalancing.Entry(session: reference(to: session.token), bytes: bytes))
        }
      }
    }
    round.add(entries, sum: shared.buffers.value)
  }

  /// What a round has come to, for those who still have no connection.
  func carryOut(_ cuts: [MemoryRebalancing.Cut]) {
    for cut in cuts {
      guard let session = sessions.find(cut.session), session.connection == nil,
        let conversation = session.game.conversation, conversation.state.heldBytes > cut.bytes
      else { continue }
      conversation.state.evict(downTo: cut.bytes)
      _ = shared.buffers.change(by: conversation.state.takeBufferChange())
    }
  }
}
