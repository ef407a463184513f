/// The last stage: what waits is sent, each side gets its FIN, and their ends are awaited so that no RST cuts the rest.
internal import Bytes
internal import Sockets
internal import System

extension Connection {
  func linger() {
    guard stage == .lingering else { return }
    let clientDone = lingerOnClient()
    let backendDone = lingerOnBackend()
    if clientDone, backendDone { close() }
  }

  /// The time for the ends is over, but what waits goes on as long as it is taken.
  func lingerExpired() {
    if blockedSince == nil || isStalled { return close() }
    arm(after: Self.lingerTime)
  }

  private func lingerOnClient() -> Bool {
    switch legs.client.flush(loop.outbox) {
    case .drained: break
    case .blocked: return false
    case .failed: return true
    }
    if !hasSentFinToClient {
      hasSentFinToClient = true
      legs.client.socket.finishSending()
    }
    return discardInput(from: legs.client.socket)
  }

  private func lingerOnBackend() -> Bool {
    if legs.backend == nil { return true }
    switch legs.backend?.resumeSending() {
    case .drained?: break
    case .blocked?: return false
    case .failed?, nil: return true
    }
    if !hasSentFinToBackend {
      hasSentFinToBackend = true
      legs.backend?.socket.finishSending()
    }
    guard legs.backend != nil else { return true }
    return discardBackendInput()
  }

  private func discardBackendInput() -> Bool {
    var done = false
    var reads = 0
    while !done, reads < Self.discardsPerTurn {
      reads += 1
      let result = loop.scratch.withBytes { bytes in
        legs.backend?.receive(into: &bytes, gapBytes: 0, slotBytes: Self.discardBytes)
      }
      switch result {
      case .bytes?: continue
      case .wouldBlock?: return false
      case .ended?, .failed?, nil: done = true
      }
    }
    if !done { loop.continueLater(self) }
    return done
  }

  /// Reads past what the peer still sends, unread and undecrypted, a bounded amount a turn.
  private func discardInput(from socket: borrowing Socket) -> Bool {
    for _ in 0..<Self.discardsPerTurn {
      switch loop.scratch.withBytes({ bytes in socket.receive(into: &bytes) }) {
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
