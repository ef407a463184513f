/// What is shown instead of a page, and for a change that cannot be made.
struct ErrorPage: Sendable {
  enum Kind: Int, CaseIterable, Sendable {
    case badRequest = 400
    case forbidden = 403
    case notFound = 404
    case conflict = 409
    case misdirected = 421
    case unavailable = 503
  }

  var kind: Kind
  /// What is the matter, for the operator; nil for what the kind itself says.
  var detail: String?

  /// A change was begun, and nobody knows whether it was made, or whether it lasts.
  var isPerhapsDone: Bool = false
}
