/// A pairing as the store keeps it: from the QR code to the device that an operator or a service has confirmed
/// (docs/devices-messages.md, "Pairing").
package import Bytes
package import DeviceWire
package import Time

package struct PairingRecord: Sendable {
  package enum State: Int, CaseIterable, Sendable {
    /// Shown, and no phone has answered.
    case open = 0
    /// A phone has answered and is committed to its random bytes.
    case answered = 1
    /// It has revealed them: both sides know the digits.
    case revealed = 2
    case active = 3
    case refused = 4

    package var word: String {
      switch self {
      case .open: "open"
      case .answered: "phone"
      case .revealed: "revealed"
      case .active: "active"
      case .refused: "refused"
      }
    }

    /// Neither confirmed nor given up.
    package var isOpen: Bool {
      switch self {
      case .open, .answered, .revealed: true
      case .active, .refused: false
      }
    }
  }

  /// What is known once a phone has answered.
  package struct Answer: Equatable, Sendable {
    package let device: DeviceID
    /// Of the `pair` message, which is the phone's all in all: the same one again is the same answer.
    package let messageHash: Bytes32
    /// SHA-256 of its random bytes.
    package let commit: Bytes32
    /// The gate's own, made after it had the phone's commitment.
    package let s: Bytes32

    package init(device: DeviceID, messageHash: Bytes32, commit: Bytes32, s: Bytes32) {
      self.device = device
      self.messageHash = messageHash
      self.commit = commit
      self.s = s
    }
  }

  package let id: PairingID
  package var state: State
  /// Nil where the host has opened it.
  package let service: ServiceID?
  package let subject: Subject?
  /// What the device is to be called once it is confirmed; else what it calls itself.
  package let name: DeviceName?
  /// In the QR code, and gone with the end.
  package var secret: PairingSecret?
  /// As the QR code has it.
  package let serverKeyHash: Bytes32
  package let createdAt: UnixTime
  package let expiresAt: UnixTime
  package var answer: Answer?
  package var r: Bytes32?
  package var wrongMACs = 0
  package var wrongDigits = 0
  package var endedAt: UnixTime?

  /// From the code to the confirmation.
  package static let life: Duration = .seconds(300)
  /// So many MACs under another secret end it.
  package static let macsToBurn = 5
  /// So many wrong digits end it.
  package static let digitsToBurn = 3
  /// So many of a service's, or of the host's, may be open at once.
  package static let openLimit = 100

  package init(
    id: PairingID, state: State = .open, service: ServiceID?, subject: Subject?, name: DeviceName?,
    secret: PairingSecret?, serverKeyHash: Bytes32, createdAt: UnixTime, expiresAt: UnixTime
  ) {
    self.id = id
    self.state = state
    self.service = service
    self.subject = subject
    self.name = name
    self.secret = secret
    self.serverKeyHash = serverKeyHash
    self.createdAt = createdAt
    self.expiresAt = expiresAt
  }

  /// What phone and operator compare, once both have said all.
  var digits: PairingDigits? {
    guard let answer, let r else { return nil }
    return PairingDigits(of: .pairSAS(pairMessageHash: answer.messageHash, s: answer.s, r: r))
  }
}
