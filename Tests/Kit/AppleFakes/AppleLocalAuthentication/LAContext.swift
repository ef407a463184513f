/// Who holds the phone: a context asks for a face or a passcode once, and then nobody again.
public import Foundation
internal import Synchronization

@available(iOS 8.0, *)
public enum LAPolicy: Int, Sendable {
  case deviceOwnerAuthenticationWithBiometrics = 1
  @available(iOS 9.0, *)
  case deviceOwnerAuthentication = 2
}

@available(iOS 11.0, *)
public enum LABiometryType: Int, Sendable {
  case none = 0
  case touchID = 1
  case faceID = 2
}

@available(iOS 8.0, *)
open class LAContext: NSObject, @unchecked Sendable {
  private struct State {
    var isAuthenticated = false
    var isInvalid = false
    var allowsNoPrompt = false
    var reason = ""
    var cancelTitle: String?
    var fallbackTitle: String?
    var reuse = 0.0
  }

  private let state = Mutex(State())
  private let prompts: any Prompting

  override public init() {
    prompts = AppleDevice.current[FakePrompts.self]
  }

  /// - Parameter error: an NSError of `LAErrorDomain`.
  open func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool {
    let code = state.withLock(\.isInvalid) ? -10 : prompts.codeOfNone
    // The caller's variable, for as long as the call lasts.
    if let code { unsafe error?.pointee = NSError(domain: LAErrorDomain, code: code) }
    return code == nil
  }

  /// True, or an LAError.
  @discardableResult
  open func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool {
    if state.withLock(\.isInvalid) { throw LAError(-10) }
    // An exception of Objective-C, which ends the app.
    precondition(!localizedReason.isEmpty, "localizedReason must be non-empty")
    let code = await withCheckedContinuation { continuation in
      prompts.ask(self) { continuation.resume(returning: $0) }
    }
    if let code { throw LAError(code) }
    return true
  }

  /// Its prompts go, and it is of no use any more.
  @available(iOS 9.0, *)
  open func invalidate() {
    state.withLock { state in (state.isInvalid, state.isAuthenticated) = (true, false) }
    prompts.invalidate(self)
  }

  @available(iOS 11.0, *)
  open var biometryType: LABiometryType { .faceID }

  /// Other bytes after each change of the faces.
  @available(iOS 9.0, *)
  open var evaluatedPolicyDomainState: Data? { Data([UInt8(truncatingIfNeeded: prompts.faces)]) }

  @available(iOS 13.0, *)
  open var interactionNotAllowed: Bool {
    get { state.withLock(\.allowsNoPrompt) }
    set { state.withLock { state in state.allowsNoPrompt = newValue } }
  }

  @available(iOS 11.0, *)
  open var localizedReason: String {
    get { state.withLock(\.reason) }
    set { state.withLock { state in state.reason = newValue } }
  }

  @available(iOS 10.0, *)
  open var localizedCancelTitle: String? {
    get { state.withLock(\.cancelTitle) }
    set { state.withLock { state in state.cancelTitle = newValue } }
  }

  open var localizedFallbackTitle: String? {
    get { state.withLock(\.fallbackTitle) }
    set { state.withLock { state in state.fallbackTitle = newValue } }
  }

  @available(iOS 9.0, *)
  open var touchIDAuthenticationAllowableReuseDuration: Double {
    get { state.withLock(\.reuse) }
    set { state.withLock { state in state.reuse = newValue } }
  }
}

extension LAContext: AuthenticationContext {
  package var isAuthenticated: Bool { state.withLock(\.isAuthenticated) }
  package var allowsPrompt: Bool { !interactionNotAllowed }
  package func noteAuthenticated() { state.withLock { state in state.isAuthenticated = !state.isInvalid } }
}
