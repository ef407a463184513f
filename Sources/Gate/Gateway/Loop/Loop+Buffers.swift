/// The messages that a loop's sessions keep: their sum over all loops, and who gives way when it is too large.
internal import Configuration
internal import System

extension Loop {
  /// Keeps the sum of all sessions' messages; when it is too large, the fullest of those without a connection lose their
  /// oldest ones.
  func accountBuffers(of session: GameSession) {
    guard let conversation = session.game.conversation else { return }
    noteBuffers(of: session, conversation, changedBy: conversation.state.takeBufferChange())
  }

  func noteBuffers(of session: GameSession, _ conversation: Conversation, changedBy change: Int) {
    let sum = shared.buffers.change(by: change)
    guard change > 0, sum > settings.limits.sessionBuffersBytes else { return }
    if now >= levelsFrom {
      levelBuffers()
      if shared.buffers.value > settings.limits.sessionBuffersBytes { askOthersToLevel() }
    } else if session.connection == nil {
      // There was nothing to be had here just now, and others were asked: it gives back what it took, but keeps its newest.
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

  /// What there is too much of is not here, or of those that are attached: that is not looked for in each turn.
  private func askOthersToLevel() {
    levelsFrom = now + Self.levellingPause
    for other in shared.mailboxes.indices where other != index { shared.mailboxes[other].post(.levelBuffers) }
  }

  private static let levellingPause: Duration = .milliseconds(100)

  /// Takes the excess, and a hundredth of the whole so that this is not asked for with each message, off the fullest.
  func levelBuffers() {
    guard firstToGo != nil, shared.buffers.value > settings.limits.sessionBuffersBytes else { return }
    let wanted =
      shared.buffers.value - settings.limits.sessionBuffersBytes + settings.limits.sessionBuffersBytes / 100
    var fullest: [(bytes: Int, conversation: Conversation)] = []
    sessions.forEach { session in
      guard session.connection == nil, let conversation = session.game.conversation else { return }
      if conversation.state.heldBytes > 0 { fullest.append((conversation.state.heldBytes, conversation)) }
    }
    fullest.sort { $0.bytes > $1.bytes }
    var excess = wanted
    for (index, entry) in fullest.enumerated() where excess > 0 {
      // As far down as the next one stands, so that nobody loses more than the others.
      let next = index + 1 < fullest.count ? fullest[index + 1].bytes : 0
      let before = entry.bytes
      entry.conversation.state.evict(downTo: max(next / 2, before - excess))
      excess -= before - entry.conversation.state.heldBytes
      _ = shared.buffers.change(by: entry.conversation.state.takeBufferChange())
    }
  }
}
