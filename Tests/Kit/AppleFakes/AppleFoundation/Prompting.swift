/// What LocalAuthentication and Security share: who is asked for a face or a passcode, and for whom it counts.

/// An LAContext without LocalAuthentication.
package protocol AuthenticationContext: AnyObject, Sendable {
  /// Somebody has shown a face already: nobody is asked again.
  var isAuthenticated: Bool { get }
  var allowsPrompt: Bool { get }
  func noteAuthenticated()
}

/// What a phone has for it.
package protocol Prompting: AnyObject, Sendable {
  /// Why nobody can be asked, by LAError's codes; nil: they can.
  var codeOfNone: Int? { get }
  /// Counts up with each change of the faces that the phone knows.
  var faces: Int { get }
  /// - Parameter done: called once, with LAError's code, or nil.
  func ask(_ context: any AuthenticationContext, _ done: @escaping @Sendable (Int?) -> Void)
  /// The context's prompts are taken away: -9, the app has cancelled.
  func invalidate(_ context: any AuthenticationContext)
}
