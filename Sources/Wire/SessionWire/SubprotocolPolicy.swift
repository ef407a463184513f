/// Which subprotocols an operator allows, and which of those that a client offers is spoken (docs/sessions.md,
/// "Subprotocols").
package import PortcullisProtocol

/// The value of `SUBPROTOCOLS`.
package struct SubprotocolPolicy: Equatable, Sendable {
  /// Whether a client may offer none, or none that the gate knows, and get raw bytes.
  package let allowsNone: Bool
  private let allowed: Set<Subprotocol>

  package static let all = Self(allowsNone: true, allowed: Set(Subprotocol.allCases))

  /// Everything is refused.
  package static let nothing = Self(allowsNone: false, allowed: [])

  private init(allowsNone: Bool, allowed: Set<Subprotocol>) {
    self.allowsNone = allowsNone
    self.allowed = allowed
  }

  /// From the words of the setting: subprotocols and `none`, each once, in whatever order.
  package init(words: [String]) throws(SubprotocolPolicyError) {
    var allowsNone = false
    var allowed: Set<Subprotocol> = []
    for word in words {
      if word == Self.none {
        if allowsNone { throw .twice(word) }
        allowsNone = true
      } else {
        guard let subprotocol = Subprotocol(rawValue: word) else { throw .unknown(word) }
        if !allowed.insert(subprotocol).inserted { throw .twice(word) }
      }
    }
    if !allowsNone, allowed.isEmpty { throw .empty }
    self.init(allowsNone: allowsNone, allowed: allowed)
  }

  package func allows(_ subprotocol: Subprotocol) -> Bool { allowed.contains(subprotocol) }

  /// The first that is allowed, in the client's order. What the gate does not know counts as not offered; but a client
  /// that offers what the gate knows is never given anything else by surprise.
  package func choose(from offers: [String]) -> SubprotocolChoice {
    var knowsAny = false
    for offer in offers {
      guard let subprotocol = Subprotocol(rawValue: offer) else { continue }
      if allowed.contains(subprotocol) { return .chosen(subprotocol) }
      knowsAny = true
    }
    return allowsNone && !knowsAny ? .none : .refused
  }

  /// The word for no subprotocol at all.
  package static let none = "none"

  /// Every word that the setting takes.
  package static let words = [none] + Subprotocol.allCases.map(\.rawValue)
}

package enum SubprotocolChoice: Equatable, Sendable {
  case chosen(Subprotocol)
  /// Raw bytes; the answer names no subprotocol.
  case none
  /// 400.
  case refused

  package var subprotocol: Subprotocol? {
    if case .chosen(let subprotocol) = self { subprotocol } else { nil }
  }

  /// What the answer to the upgrade names.
  package var name: String? { subprotocol?.rawValue }

  /// How text and events are spoken to the app; nil where bytes pass as they come, or nothing does.
  package var dialect: Dialect? {
    if case .chosen(let subprotocol) = self { Dialect(subprotocol) } else { nil }
  }
}

/// A subprotocol under which the gate speaks telnet for the app.
package enum Dialect: Sendable, CaseIterable {
  case terminal, gmcp, json, portcullis

  /// Nil for raw ones.
  package init?(_ subprotocol: Subprotocol) {
    switch subprotocol {
    case .binary, .telnet: return nil
    case .terminal: self = .terminal
    case .gmcp: self = .gmcp
    case .json: self = .json
    case .portcullis: self = .portcullis
    }
  }

  /// Whether a session outlives its connection.
  package var isResumable: Bool { self == .portcullis }
}

/// What is wrong with the words of `SUBPROTOCOLS`.
package enum SubprotocolPolicyError: Error, Equatable, Sendable, CustomStringConvertible {
  case unknown(String)
  case twice(String)
  case empty

  package var description: String {
    switch self {
    case .unknown(let word): "\(word) is none of \(SubprotocolPolicy.words.joined(separator: ", "))"
    case .twice(let word): "\(word) stands there twice"
    case .empty: "nothing is allowed"
    }
  }
}
