/// The negotiation of permessage-deflate (RFC 7692 §5 and §7.1), from either side: what is offered, what is
/// agreed on.

/// What both sides agreed on. The server keeps no context from one message to the next: that is always part of it.
package struct PermessageDeflate: Equatable, Sendable {
  /// Of the window that the server may compress with, as a power of two: 9 to 15.
  package let serverWindowBits: Int
  /// Of the window that the client may compress with: 8 to 15.
  package let clientWindowBits: Int
  /// Whether a message of the client's may lean on those before it. No server can forbid that to a client that has not
  /// offered `client_no_context_takeover`: NSURLSession of iOS 15.0 to 15.3 is asked not to, and does.
  package let clientKeepsContext: Bool
  /// How the server says so in `Sec-WebSocket-Extensions`.
  package let response: String

  package static let name = "permessage-deflate"

  /// The window a server asks clients to keep to when they let it: 4 KiB at most are kept of what was sent, and what
  /// inflates a message under way takes 11 KiB instead of 39. What players type repeats itself within that or not at all.
  static let wantedClientWindowBits = 12

  /// The first offer that can be granted (RFC 7692 §5.1); nil when there is none.
  /// - Parameter hasRoom: for a client's window of so many bytes, which is kept from message to message; asked at most once
  ///   for an offer, and not where no window is kept.
  package static func agreed(
    on offers: [ExtensionOffer], hasRoom: (_ windowBytes: Int) -> Bool
  ) -> PermessageDeflate? {
    for offer in offers where offer.name == name {
      guard let agreement = PermessageDeflate(granting: offer) else { continue }
      let bytes = agreement.keptWindowBytes
      if bytes == 0 || hasRoom(bytes) { return agreement }
    }
    return nil
  }

  /// Of the client's messages, from one to the next; 0 where it keeps no context.
  package var keptWindowBytes: Int { clientKeepsContext ? 1 << clientWindowBits : 0 }

  /// Nil for an offer that RFC 7692 §7.1 has declined: an unknown parameter, one that stands twice, a bad
  /// value; and for a server window of 8 bits, which zlib cannot compress with.
  private init?(granting offer: ExtensionOffer) {
    guard let parameters = Parameters(offer.parameters, clientWindowMayLackValue: true) else { return nil }
    clientKeepsContext = !parameters.clientKeepsNoContext
    var response = "\(Self.name); \(Parameters.serverNoContext)"
    if !clientKeepsContext { response += "; \(Parameters.clientNoContext)" }
    switch parameters.serverWindow {
    case .absent: serverWindowBits = 15
    case .bits(let bits) where bits >= 9:
      serverWindowBits = bits
      response += "; \(Parameters.serverWindowBits)=\(bits)"
    case .bits, .withoutValue: return nil
    }
    switch parameters.clientWindow {
    case .absent: clientWindowBits = 15
    case .bits(8):
      // Nothing is asked for: with zlib, the client could not keep to 8 bits either.
      clientWindowBits = 15
    case .withoutValue, .bits:
      clientWindowBits = min(parameters.clientWindow.bits ?? 15, Self.wantedClientWindowBits)
      response += "; \(Parameters.clientWindowBits)=\(clientWindowBits)"
    }
    self.response = response
  }

  // MARK: As a client

  /// What a client offers that keeps no context.
  package static let offer =
    "\(name); \(Parameters.serverNoContext); \(Parameters.clientNoContext); \(Parameters.clientWindowBits)"

  /// From what a server answered to `offer`; nil when it is no such answer (RFC 7692 §5.1: the client must
  /// then fail the connection).
  package init?(answering response: [UInt8]) {
    guard let extensions = ExtensionOffer.list(response), extensions.count == 1,
      extensions[0].name == Self.name,
      let parameters = Parameters(extensions[0].parameters, clientWindowMayLackValue: false),
      parameters.serverKeepsNoContext
    else { return nil }
    serverWindowBits = parameters.serverWindow.bits ?? 15
    clientWindowBits = parameters.clientWindow.bits ?? 15
    clientKeepsContext = !parameters.clientKeepsNoContext
    self.response = String(decoding: response, as: UTF8.self)
  }
}

/// The four parameters of RFC 7692 §7.1, each at most once and with a value as it says.
private struct Parameters {
  enum Window: Equatable {
    case absent, withoutValue
    /// 8 to 15.
    case bits(Int)

    var bits: Int? {
      if case .bits(let bits) = self { return bits }
      return nil
    }
  }

  static let serverNoContext = "server_no_context_takeover"
  static let clientNoContext = "client_no_context_takeover"
  static let serverWindowBits = "server_max_window_bits"
  static let clientWindowBits = "client_max_window_bits"

  private(set) var serverKeepsNoContext = false
  private(set) var clientKeepsNoContext = false
  private(set) var serverWindow = Window.absent
  private(set) var clientWindow = Window.absent

  init?(_ parameters: [ExtensionOffer.Parameter], clientWindowMayLackValue: Bool) {
    var seen: Set<String> = []
    for parameter in parameters {
      guard seen.insert(parameter.name).inserted else { return nil }
      switch parameter.name {
      case Self.serverNoContext:
        guard parameter.value == nil else { return nil }
        serverKeepsNoContext = true
      case Self.clientNoContext:
        guard parameter.value == nil else { return nil }
        clientKeepsNoContext = true
      case Self.serverWindowBits:
        guard let bits = parameter.value.flatMap(Self.bits) else { return nil }
        serverWindow = .bits(bits)
      case Self.clientWindowBits:
        if parameter.value == nil, clientWindowMayLackValue {
          clientWindow = .withoutValue
        } else {
          guard let bits = parameter.value.flatMap(Self.bits) else { return nil }
          clientWindow = .bits(bits)
        }
      default: return nil
      }
    }
  }

  /// "A decimal integer value without leading zeroes between 8 to 15 inclusive" (RFC 7692 §7.1.2).
  private static func bits(_ text: String) -> Int? {
    let all = ["8": 8, "9": 9, "10": 10, "11": 11, "12": 12, "13": 13, "14": 14, "15": 15]
    return all[text]
  }
}
