/// `/sign-in` and what follows it. There is no frame around it: nobody is signed in.

package struct SignInPage: Sendable {
  package enum State: Equatable, Sendable {
    /// Says how: `portcullis admin link`.
    case howTo
    /// A link was followed; its button posts to the same address, which this is (`/sign-in/<code>`).
    case button(path: String, operatorName: String)
    /// The link is used, too old, or none.
    case linkEnded
    case signedOut
  }

  package var state: State
  package var gate: String
  package var version: String

  package init(state: State, gate: String, version: String) {
    self.state = state
    self.gate = gate
    self.version = version
  }
}
