/// The pages around signing in, for whom there is no other page.
import Admin
import Prompt

struct SignInPages {
  /// What the operator calls it.
  private let gate = ShownHostName.text

  func page(_ state: SignInState) -> [UInt8] {
    SignInPage(state: SignInPage.State(state), gate: gate, version: Version.text).html()
  }
}

extension SignInPage.State {
  fileprivate init(_ state: SignInState) {
    switch state {
    case .howTo: self = .howTo
    case .button(let path, let user): self = .button(path: path, operatorName: user)
    case .linkEnded: self = .linkEnded
    case .signedOut: self = .signedOut
    }
  }
}
