/// The commands that another program has, portcullis-dev, and what both programs have to know of them.
/// In the order of `portcullis --help`.
package enum DevelopmentCommand: String, CaseIterable {
  case verify
  case devCerts = "dev-certs"
  case simulate
  case demo

  /// What `verify` had a command for: it tells by the file now what it is.
  package static let former = [
    ("cases", "recorded"), ("approval", "approval"), ("android-key", "android-key"),
    ("play-integrity", "play-integrity"),
  ].map { FormerName("verify \($0)", now: "verify --kind \($1)", shown: "verify") }

  package static let program = "portcullis-dev"

  /// The program's first word where it is to complete what the gate's program says to a shell: standard input is the script
  /// of the gate's own commands, and the next word is the shell.
  package static let completionWord = "complete-script"

  package var abstract: String {
    switch self {
    case .verify: "Judge attestations, assertions, messages of devices and results of approvals offline."
    case .devCerts: "Make certificates and keys for development."
    case .simulate: "Play the app: register a key, connect, or do both many times over."
    case .demo: "Show the gate at work: a game, the gate and a simulated device, honest and then cheating."
    }
  }

  /// So that a name which is typed amiss gets the nearest one of all (Tests/EndToEnd/development holds it to the program).
  package var name: CommandName {
    func named(_ names: String...) -> [CommandName] { names.map { CommandName($0) } }
    return switch self {
    case .verify:
      CommandName(
        rawValue, standsForOne: true,
        named("judge", "revocation-list"))
    case .devCerts, .demo: CommandName(rawValue)
    case .simulate:
      CommandName(
        rawValue,
        named("register", "connect") + [
          CommandName(
            "phone",
            named(
              "pair", "enroll", "attest", "approvals", "otp", "heartbeat", "self", "token", "rotate",
              "presence"))
        ] + named("play", "desktop", "bench"))
    }
  }
}
