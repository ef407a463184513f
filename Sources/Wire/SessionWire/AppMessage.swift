/// What an app's messages are about, under the subprotocols in which the gate speaks telnet for it (docs/sessions.md,
/// "From the app").
internal import JSON
package import PortcullisProtocol
package import TelnetWire
package import WebSocketWire

package enum AppMessage: Equatable, Sendable {
  /// The whole payload is what was typed, in UTF-8 as far as it is any.
  case input
  /// So is this.
  case typed([UInt8])
  case client(ClientUpdate)
  /// For the game; `data` is compact JSON.
  case gmcp(package: [UInt8], data: [UInt8]?)
  /// For the game: a JSON object, compact.
  case msdp([UInt8])
  case size(TerminalSize)
  case ack(received: Int)
  case leave
  /// To be ignored: a type that the gate does not know, or does not take.
  case unknown
  /// To be left out, as a member is missing or not what it must be.
  case refused(Refusal)

  package struct Refusal: Equatable, Sendable {
    /// Nil for those of other subprotocols than `portcullis.v1`.
    package let kind: MessageKind?
    /// The member that is missing or unfit.
    package let member: String

    package init(kind: MessageKind?, member: String) {
      self.kind = kind
      self.member = member
    }
  }

  /// Whether it has a number.
  package var isCounted: Bool {
    switch self {
    case .client, .ack, .leave: false
    case .refused(let refusal):
      switch refusal.kind {
      case .client, .ack, .leave: false
      default: true
      }
    case .input, .typed, .gmcp, .msdp, .size, .unknown: true
    }
  }

  /// Whether `INPUT_RATE` takes no note of it, with so many bytes.
  package func isFree(bytes: Int) -> Bool {
    switch self {
    case .client: bytes <= Self.largestFreeClient
    case .ack, .leave: bytes <= Self.largestFree
    case .refused(let refusal):
      switch refusal.kind {
      case .client: bytes <= Self.largestFreeClient
      case .ack, .leave: bytes <= Self.largestFree
      default: false
      }
    case .input, .typed, .gmcp, .msdp, .size, .unknown: false
    }
  }

  /// An `ack` has some 35 bytes and a `leave` 16: a larger one is work that nobody needs.
  static let largestFree = 128
  /// A description that is kept has 512 bytes beside its names and quotes.
  static let largestFreeClient = 4096
}

extension Dialect {
  /// Whether a message may be free (`AppMessage.isFree`): what may not is paid for before it is read.
  package func mayBeFree(_ type: MessageType, bytes: Int) -> Bool {
    self == .portcullis && type == .text && bytes <= AppMessage.largestFreeClient
  }
}

/// Why a text message of `portcullis.v1` ends the connection. It counts nevertheless.
package enum MalformedMessage: String, Error, CaseIterable, Sendable {
  case notJSON = "message_not_json"
  case noObject = "message_no_object"
  /// There is none, or it is no string.
  case noType = "message_no_type"
  case tooDeep = "message_too_deep"

  init(_ error: JSONError) {
    switch error.rule {
    case .depthExceeded: self = .tooDeep
    case .unsuitable: self = .noObject
    case .unexpectedEnd, .unexpectedByte, .trailingBytes, .duplicateName, .controlCharacter, .invalidEscape,
      .loneSurrogate, .invalidUTF8, .invalidNumber, .tooManyValues:
      self = .notJSON
    }
  }

  /// The word for the log.
  package var step: String { rawValue }

  /// Objects and arrays that may be open at once.
  package static let depthLimit = 16
}
