/// What a Close frame says (RFC 6455 §5.5.1, §7.4).
package import PortcullisProtocol

/// Close codes that may stand in a Close frame; 1005, 1006 and 1015 are no such value, so they are never sent.
package struct CloseCode: Hashable, Sendable {
  package let rawValue: UInt16

  /// Nil for what must not be on the wire: below 1000, 1004 to 1006, 1015 to 2999, and from 5000 up. 1012 to
  /// 1014 are of the IANA registry.
  package init?(_ rawValue: UInt16) {
    switch rawValue {
    case 1000...1003, 1007...1014, 3000...4999: self.rawValue = rawValue
    default: return nil
    }
  }

  package init(_ reason: ClosingReason) {
    rawValue = reason.closeCode
  }

  private init(known rawValue: UInt16) {
    self.rawValue = rawValue
  }

  package static let normal = CloseCode(known: 1000)
  package static let goingAway = CloseCode(known: 1001)
  package static let protocolError = CloseCode(known: 1002)
  package static let unsupportedData = CloseCode(known: 1003)
  package static let invalidPayload = CloseCode(known: 1007)
  package static let policyViolation = CloseCode(known: 1008)
  package static let messageTooBig = CloseCode(known: 1009)
  package static let internalError = CloseCode(known: 1011)
}

/// What a peer's Close frame says; without a code nothing was said (RFC 6455 §5.5.1).
package struct CloseRequest: Equatable, Sendable {
  package let code: CloseCode?
  package let reason: String

  package init(code: CloseCode?, reason: String) {
    self.code = code
    self.reason = reason
  }
}
