/// `portcullis verify`: what was recorded or received is recognised by its content, and judged offline as the gate would
/// (docs/running.md, "Commands").
import AndroidKey
import ArgumentParser
import Bytes
import Commands
import Configuration
import PlayIntegrity
import Prompt
import Vectors

struct Verify: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Judge attestations, assertions, messages of devices and results of approvals offline.",
    discussion:
      "verify FILE is verify judge FILE: the file tells what it is. verify judge --help has the options of each kind.",
    subcommands: [VerifyJudge.self, VerifyRevocationList.self], defaultSubcommand: VerifyJudge.self)
}

extension RecordKind: ExpressibleByArgument {}

struct VerifyJudge: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "judge", abstract: "Judge files, each as what it is.",
    discussion: """
      A FILE is recognised by its content; --kind says what it is. Ends with status 1 when it is rejected, and with 65 when \
      it is not what it should be.

      Result of a request for an approval: what GET /approvals/{id} has answered, or approvals show --json. Says who has \
      signed what. That it was approved is said by its state, and by the status of --approved. Whose the keys are, and \
      that an operator has agreed, is the gate's word.

      Android key attestation: the chain, the leaf first. It is certificates in PEM, or the JSON object with x5c that the \
      app has sent as evidence. With --approval its approval_x5c is judged, for the key of approval_pubkey. It needs --key, \
      --apps, and --server-id with --nonce, or --challenge. The age of the revocation list is not judged here.

      Token of Play Integrity: as the app has got it. It needs --keys, --apps and --nonce, which is base64url of SHA-256 of \
      the message play-nonce (docs/android.md).

      Recorded case: a JSON object that describes one attestation or assertion. Its kind says which. An attestation has \
      attestation_b64 and key_id_b64. An assertion has assertion_b64, public_key_x963_b64 and previous_counter. Both have \
      client_data_hash_b64, challenge_b64 or client_data_b64; team_id and bundle_id; environment (one or several). \
      Optional are verify_at (default: now), root (apple, or a PEM file beside FILE) and launch_policy.

      Other kinds are message (of a device), summary, play-integrity (a token), android-key (a chain), sweep (a good one \
      of these with a rule for changing it) and risk (a request for a code). Their steps are in docs/devices-messages.md, \
      docs/android.md and docs/risk.md. Status 1 also means a verdict other than the object's expect.result.

      With --jsonl each line of FILE is such an object, and one line a case is printed: \
      {"name":…,"result":"accept"}, {"name":…,"result":"reject","check":"<step>"}, or "unsupported" for \
      other kinds.
      """)

  @Option(help: "What the files are: recorded, approval, android-key or play-integrity.")
  var kind: RecordKind?

  @Flag(help: "FILE holds one recorded case a line.")
  var jsonl = false

  @Flag(help: "Also end with status 1 when the state of an approval is another than approved.")
  var approved = false

  @Option(help: "The key that is being registered, in base64, as in device_pubkey, or approval_pubkey.")
  var key: String?

  @Option(help: "The apps that are known, as ANDROID_APPS has them: package:sha256, …")
  var apps: String?

  @Option(help: "The server_id of the gate.")
  var serverID: String?

  // It may begin with a hyphen.
  @Option(
    parsing: .unconditional,
    help: "The nonce of the request, in hexadecimal; that of a token, in base64url.")
  var nonce: String?

  @Option(help: "SHA-256 of the message android-key, in hexadecimal.")
  var challenge: String?

  @Option(help: "Roots in PEM beside Google's, as ANDROID_ROOTS_PATH names them.", completion: .file())
  var roots: String?

  @Option(help: "The list that ANDROID_REVOCATION_PATH names.", completion: .file())
  var revocation: String?

  @Option(
    help: "The lowest level that will do: tee or strongbox of a chain; basic, device or strong of a token.")
  var level: String?

  @Flag(help: "The chain of the approval key: approval_x5c of a JSON object, and --require-uv.")
  var approval = false

  @Flag(help: "A person has to unlock the key at each use, as for approvals.")
  var requireUv = false

  @Option(help: "The oldest patch level that will do, as YYYYMM.")
  var patch: Int?

  @Option(help: "The file that PLAY_INTEGRITY_KEYS_PATH names.", completion: .file())
  var keys: String?

  @Option(help: "How many seconds old a token may be.")
  var maxAge: Int64?

  @Option(help: "The time to judge at, as 2026-03-02T12:00:00Z; now, unless given.")
  var at: String?

  @Argument(help: "Files to judge.", completion: .file())
  var files: [String]

  func run() throws {
    let kinds = jsonl ? files.map { _ in .recorded } : files.map { kind ?? recognised($0) }
    if kinds.allSatisfy({ $0 == .recorded }) {
      try refuseOthers(than: .recorded)
      return try CaseCheck(jsonl: jsonl, files: files).run()
    }
    // Of several the others are judged as well.
    var failure: (any Error)?
    for (file, kind) in zip(files, kinds) {
      do {
        try judge(file, kind)
      } catch let error as ValidationError {
        throw error
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }

  private func judge(_ file: String, _ kind: RecordKind) throws {
    try refuseOthers(than: kind)
    switch kind {
    case .recorded: try CaseCheck(jsonl: false, files: [file]).run()
    case .approval: try ApprovalCheck(approved: approved, file: file).run()
    case .androidKey:
      try AndroidKeyCheck(
        key: try needed(key, "--key", kind, file), apps: try needed(apps, "--apps", kind, file),
        serverID: serverID,
        nonce: nonce, challenge: challenge, roots: roots, revocation: revocation,
        level: try read(level, as: SecurityLevel.self) ?? .tee, approval: approval, requireUv: requireUv,
        patch: patch,
        at: at, file: file
      ).run()
    case .playIntegrity:
      try PlayCheck(
        keys: try needed(keys, "--keys", kind, file), apps: try needed(apps, "--apps", kind, file),
        nonce: try needed(nonce, "--nonce", kind, file),
        level: try read(level, as: PlayLevel.self) ?? .device, at: at,
        maxAge: maxAge ?? PlayVerifier.maximumAge.components.seconds, file: file
      ).run()
    }
  }

  // MARK: Options

  private func needed(_ value: String?, _ option: String, _ kind: RecordKind, _ file: String) throws -> String
  {
    guard let value else { throw ValidationError("\(shown(file)) is \(kind.title): name \(option)") }
    return value
  }

  private func read<Level: ExpressibleByArgument & RawRepresentable<String> & CaseIterable>(
    _ text: String?, as _: Level.Type
  ) throws -> Level? {
    guard let text else { return nil }
    guard let level = Level(argument: text) else {
      let choices = Level.allCases.map(\.rawValue).joined(separator: ", ")
      throw ValidationError("--level is one of \(choices)")
    }
    return level
  }

  /// An option of another kind would be passed over, as if it had been heeded.
  private func refuseOthers(than kind: RecordKind) throws {
    let all: [(name: String, isGiven: Bool, kinds: Set<RecordKind>)] = [
      ("--approved", approved, [.approval]), ("--key", key != nil, [.androidKey]),
      ("--apps", apps != nil, [.androidKey, .playIntegrity]), ("--server-id", serverID != nil, [.androidKey]),
      ("--nonce", nonce != nil, [.androidKey, .playIntegrity]),
      ("--challenge", challenge != nil, [.androidKey]),
      ("--roots", roots != nil, [.androidKey]), ("--revocation", revocation != nil, [.androidKey]),
      ("--level", level != nil, [.androidKey, .playIntegrity]), ("--approval", approval, [.androidKey]),
      ("--require-uv", requireUv, [.androidKey]), ("--patch", patch != nil, [.androidKey]),
      ("--keys", keys != nil, [.playIntegrity]), ("--max-age", maxAge != nil, [.playIntegrity]),
      ("--at", at != nil, [.androidKey, .playIntegrity]),
    ]
    if let other = all.first(where: { $0.isGiven && !$0.kinds.contains(kind) }) {
      throw ValidationError("\(other.name) is not for \(kind.title)")
    }
  }

  /// By its content; where that says nothing by what is asked about it. Whether it can be read is told by the check.
  private func recognised(_ file: String) -> RecordKind {
    let beginning = (try? SystemFiles().contents(of: file, limit: RecordKind.longest)) ?? []
    let kind = RecordKind(recognising: beginning.span)
    guard kind == .recorded else { return kind }
    return keys != nil ? .playIntegrity : key != nil ? .androidKey : approved ? .approval : .recorded
  }

  private func shown(_ file: String) -> String { PrintableText.field(file) }
}
