/// A conversation and its connections: by which ids it is resumed, what a new one is told, and what the game is told of it.
package import Addresses
package import Admission
package import Bytes
internal import Configuration
internal import PortcullisProtocol
package import SessionWire
package import Time
internal import TelnetWire
internal import WebSocketWire

extension ConversationState {
  // MARK: Attached and detached

  /// What a connection is told first.
  /// - Parameters:
  ///   - resumed: nil when the app has not asked for it.
  ///   - isKept: it outlives the process, also if that is killed now.
  /// - Parameters:
  ///   - id: by which it is resumed.
  ///   - next: the nonce that may be signed for that.
  package func greeting(
    _ id: SessionID, next: Bytes32, resumed: Bool?, isKept: Bool, _ settings: LoopSettings
  ) -> [UInt8] {
    var message: [UInt8] = []
    GateMessage.session(
      GateMessage.Session(
        id: id.text, next: next.hex, resumed: resumed == true, reason: resumed == false ? .unknown : nil,
        received: ledger.incoming.taken, resumeFor: Int(settings.sessions.resumableFor.components.seconds),
        maxMessage: settings.frameLimits.messageBytes, kept: isKept, doubt: ledger.doubt,
        echo: voice.telnet.gameEchoes,
        gmcp: voice.telnet.isGMCPAgreed, msdp: voice.telnet.isMSDPAgreed),
      to: &message)
    return message
  }

  /// Messages are missing: the app is told, and after the last of its connection's gaps of the state that they may have
  /// been about. That is as it is now, so it would be the same after each of them.
  package func afterGap(_ gap: OutgoingLedger.Gap) -> [[UInt8]] {
    var message: [UInt8] = []
    GateMessage.gap(gap, to: &message)
    return gap.isLast ? [message] + ledger.outgoing.again.messages() : [message]
  }

  /// The app's message, or its time, says that it has the new id: the other one is no good any more.
  package mutating func confirmID() -> SessionIDHash? {
    guard ledger.ids.count > 1 else { return nil }
    ledger.doubt = 0
    changes &+= 1
    return ledger.ids.removeFirst()
  }

  /// - Returns: ids that are no good any more.
  package mutating func renew(_ id: SessionIDHash, named: SessionIDHash?) -> [SessionIDHash] {
    let old = ledger.ids.filter { $0 != named }
    ledger.ids = named.map { [$0, id] } ?? [id]
    changes &+= 1
    return old
  }

  package func isKnown(by id: SessionIDHash) -> Bool { ledger.ids.contains(id) }

  /// Whether it is the id that the last upgrade was given, which none has named yet.
  package func isPresent(_ id: SessionIDHash) -> Bool { ledger.ids.last == id }

  /// A connection carries it from now on, whose app has got all up to `received`.
  package mutating func attach(after received: Int?, from address: IPAddress, now: MonotonicTime) {
    if let received {
      guard ledger.outgoing.attach(after: received) else {
        fatalError("Conversation: resumed without having been asked")
      }
      voice.telnet.link(isAttached: true, address: Array(address.description.utf8), into: &voice.toGame)
      // The last one may have been lost with the connection.
      ledger.incoming.schedule.demand(now: now)
    } else {
      ledger.outgoing.attach()
    }
    voice.blockedSince = nil
    ledger.keepsAllUntil = MonotonicTime(nanoseconds: 0)
    // What it has missed may fill the buffer already.
    noteFullness(now: now)
  }

  /// - Parameter keepsAll: its messages may fill more than their buffer, as they may with a connection.
  package mutating func detach(keepsAll: Bool = false, now: MonotonicTime) {
    ledger.outgoing.detach(keepsAll: keepsAll)
    if !keepsAll { makeRoomDetached(now: now) }
    fullness.isShortOfRoom = false
    fullness.ends()
    notices.approvalsOpen = nil
    notices.isCodeWanted = false
    // Of these there may be thousands.
    if voice.text.isEmpty { voice.text = [] }
    if voice.toGame.isEmpty { voice.toGame = [] }
    voice.telnet.link(isAttached: false, into: &voice.toGame)
  }

}
