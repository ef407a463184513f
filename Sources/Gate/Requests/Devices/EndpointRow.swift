/// An endpoint of devices, services and approvals as a row: its method, path, token and query, the log's word, and what
/// reads a request (docs/protocol-devices.md, "Devices").
package import Admission
package import HTTPWire

package struct EndpointRow: Sendable {
  package let method: RequestHead.Method
  package let path: PathTemplate
  /// As the log names it.
  package let word: String
  /// Whether a request that is answered is worth a line of the log.
  package let changesSomething: Bool
  /// Members that its query may have.
  package let queryNames: Set<DeviceQuery.Name>
  /// To which part of the pool a body is charged whose sender is not known here.
  package let strangers: BodyPart
  package let answer: EndpointAnswer
  private let bearer: Bearer
  /// The member of a query that stands in the place of the token.
  private let tokenless: DeviceQuery.Name?

  /// Whose token has to come with it.
  package enum Bearer: Equatable, Sendable {
    /// What is signed in the body says who asks.
    case nobody
    case device
    case service
  }

  /// What the log has of an answer.
  enum Logged {
    case change(String)
    /// Nothing, unless something was made.
    case look(String)
  }

  init(
    _ method: RequestHead.Method, _ path: PathTemplate, _ bearer: Bearer, _ logged: Logged,
    query: Set<DeviceQuery.Name> = [], tokenless: DeviceQuery.Name? = nil, strangers: BodyPart = .anybody,
    _ answer: EndpointAnswer
  ) {
    self.method = method
    self.path = path
    self.bearer = bearer
    self.tokenless = tokenless
    self.strangers = strangers
    self.answer = answer
    queryNames = query
    switch logged {
    case .change(let word): (self.word, changesSomething) = (word, true)
    case .look(let word): (self.word, changesSomething) = (word, false)
    }
  }

  package func bearer(_ query: DeviceQuery) -> Bearer {
    if let tokenless, query[tokenless] != nil { return .nobody }
    return bearer
  }
}

/// A path, one of whose segments may be an identifier: `/pair/{id}/confirm`.
package struct PathTemplate: ExpressibleByStringLiteral, Equatable, Sendable {
  package let text: String
  private let segments: [String]

  package init(stringLiteral text: String) {
    self.text = text
    segments = Self.segments(of: text)
  }

  /// After the first slash. Empty ones count.
  static func segments(of path: String) -> [String] {
    path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
  }

  enum Match {
    case none
    /// The identifier's segment as it came; nil where the template has none.
    case whole(String?)
  }

  func match(_ found: [String]) -> Match {
    guard found.count == segments.count else { return .none }
    var id: String?
    for (segment, found) in zip(segments, found) {
      if segment == Self.variable {
        id = found
      } else if segment != found {
        return .none
      }
    }
    return .whole(id)
  }

  private static let variable = "{id}"
}
