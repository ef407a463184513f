/// A private key with its conditions.
internal import Crypto
internal import Dispatch
internal import Foundation
internal import Synchronization

final class FakeKey: PrivateKey {
  let point: [UInt8]
  private let key: SigningKey
  private let prompts: FakePrompts
  private let flags: SecAccessControlCreateFlags
  /// Whose faces it is for.
  private let faces: Int

  init(_ flags: SecAccessControlCreateFlags, _ prompts: FakePrompts) throws {
    key = try SigningKey.generate(.p256)
    point = try key.publicPoint()
    self.flags = flags
    self.prompts = prompts
    faces = prompts.faces
  }

  /// A key for the faces of one day goes with the next one.
  var isGone: Bool { flags.contains(.biometryCurrentSet) && faces != prompts.faces }

  func refusal(_ context: (any AuthenticationContext)?) -> CFError? {
    if isGone { return CFError(code: Int(errSecItemNotFound)) }
    guard flags.needsPerson else { return nil }
    let code = Mutex<Int?>(nil)
    let semaphore = DispatchSemaphore(value: 0)
    prompts.ask(context ?? OwnContext()) { answer in
      code.withLock { code in code = answer }
      semaphore.signal()
    }
    semaphore.wait()
    return code.withLock { $0 }.map { CFError(domain: "com.apple.LocalAuthentication", code: $0) }
  }

  func sign(_ message: [UInt8]) -> [UInt8] {
    do { return try key.sign(message) } catch { fatalError("\(error)") }
  }

  /// Of a key that was found without one: asked each time.
  private final class OwnContext: AuthenticationContext {
    let isAuthenticated = false
    let allowsPrompt = true
    func noteAuthenticated() {}
  }
}
