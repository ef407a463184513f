/// `/sign-in` and what follows it. There is no frame around it: nobody is signed in.

struct SignInPage: Sendable {
  enum State: Equatable, Sendable {
    /// Says how: `portcullis admin link`.
    case howTo
    /// A link was followed; its button posts to the same address, which this is (`/sign-in/<code>`).
    case button(path: String, operatorName: String)
    /// The link is used, too old, or none.
    case linkEnded
    case signedOut
  }

  var state: State
  var gate: String
  var version: String
}
