/// A chain as an app has sent it, step by step (docs/android.md, "Key attestation").
import AndroidKey
import ArgumentParser
import Bytes
import Configuration
import Crypto
import DeviceWire
import JSON
import Prompt
import Time

struct AndroidKeyCheck {
  /// In base64: for which key the chain is to be.
  let key: String
  let apps: String
  let serverID: String?
  let nonce: String?
  let challenge: String?
  let roots: String?
  let revocation: String?
  let level: SecurityLevel
  /// The chain of the approval key.
  let approval: Bool
  let requireUv: Bool
  let patch: Int?
  let at: String?
  let file: String

  func run() throws {
    let challenge = try readChallenge()
    guard let key = DevicePublicKey(base64: key, checkedBy: P256Verifier()) else {
      throw ValidationError("--key is no key on P-256 in base64")
    }
    let policy = try readPolicy()
    let chain = try readChain()
    var verdict: AndroidKeyVerdict?
    var failed: AndroidKeyRejection?
    do throws(AndroidKeyRejection) {
      verdict = try AndroidKeyVerifier().verify(
        chain: chain, challenge: challenge, key: key.point, policy: policy)
    } catch {
      failed = error
    }
    try tell(failed, chain, verdict.map { [("uv", $0.hasUserVerification ? "hardware" : "none")] } ?? [])
    if failed != nil { throw ExitCode(1) }
  }

  // MARK: What is told

  private func tell(
    _ failed: AndroidKeyRejection?, _ chain: [[UInt8]], _ verdict: [(String, String)]
  ) throws {
    var output = Output()
    try output.line("\(failed == nil ? "accept" : "reject")  \(PrintableText.field(file))")
    let held = AndroidKeyRejection.allCases.prefix { $0 != failed }.filter(isJudged)
    for line in columns(held.map { ($0.rawValue, $0.rule) }) { try output.line("  ok     \(line)") }
    if let failed { try output.line("  fails  \(failed.rawValue)  not so: \(failed.rule)") }
    let facts = verdict + ChainFacts.all(of: chain).map { ($0.name, $0.value) }
    for line in columns(facts) { try output.line("  \(line)") }
    try output.flush()
  }

  private func isJudged(_ step: AndroidKeyRejection) -> Bool {
    switch step {
    case .revocationStale: false
    case .revoked: revocation != nil
    case .userVerification: judgesPerson
    case .patch: patch != nil
    default: true
    }
  }

  private var judgesPerson: Bool { requireUv || approval }

  // MARK: What is given

  private func readChallenge() throws -> Bytes32 {
    switch (challenge, serverID, nonce) {
    case (let text?, nil, nil):
      guard let challenge = Bytes32(hex: text) else {
        throw ValidationError("--challenge is not 64 hexadecimal digits in lower case")
      }
      return challenge
    case (nil, let server?, let nonce?):
      guard let server = ServerID(server) else {
        throw ValidationError("--server-id is no UUID in lower case")
      }
      guard let nonce = Bytes32(hex: nonce) else {
        throw ValidationError("--nonce is not 64 hexadecimal digits in lower case")
      }
      return DeviceMessage.androidKey(server: server, nonce: nonce).hash
    default: throw ValidationError("name --server-id and --nonce, or --challenge")
    }
  }

  private func readPolicy() throws -> AndroidKeyPolicy {
    let known: [AndroidApp]
    do throws(AndroidApp.ParseError) {
      known = try AndroidApp.list(parsing: apps)
    } catch {
      throw ValidationError("--apps \(error)")
    }
    return AndroidKeyPolicy(
      roots: AndroidRoots.google.union(try readRoots()), required: level,
      requiresUserVerification: judgesPerson, apps: known, minimumPatch: patch, now: try readTime(),
      revocation: try readRevocation(), revocationAge: 0)
  }

  private func readRoots() throws -> Set<Bytes32> {
    guard let roots else { return [] }
    let text = try contents(of: roots, limit: 1 << 20)
    do throws(CertificateError) {
      return try AndroidRoots.hashes(inPEM: text.span)
    } catch {
      return try fail("\(roots): holds no certificates in PEM")
    }
  }

  private func readRevocation() throws -> RevocationList {
    guard let revocation else { return .empty }
    let text = try contents(of: revocation, limit: RevocationList.maximumBytes)
    do throws(RevocationListError) {
      return try RevocationList(json: text.span)
    } catch {
      return try fail("\(revocation): is no revocation list (\(error))")
    }
  }

  private func readTime() throws -> UnixSeconds {
    guard let at else { return UnixSeconds(SystemClock().wall()) }
    guard let time = UnixTime(timestamp: at) else {
      throw ValidationError("--at is no time as 2026-03-02T12:00:00Z")
    }
    return UnixSeconds(time)
  }

  /// What is no base64 is an empty certificate, which the steps tell.
  private func readChain() throws -> [[UInt8]] {
    let text = try contents(of: file, limit: 1 << 20)
    guard text.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") else {
      do throws(CertificateError) {
        return try Certificate.contents(ofPEM: text.span)
      } catch {
        return try fail("\(file): holds no certificates in PEM, and no JSON object")
      }
    }
    let object = try? JSONValue(parsing: text.span, depthLimit: 16).object
    let name = approval ? "approval_x5c" : "x5c"
    guard let elements = object?[name]?.array else { return try fail("\(file): has no \(name)") }
    return elements.map { $0.string.flatMap { Base64.decode(Array($0.utf8).span) } ?? [] }
  }

  /// One byte more than `limit`, where there are more.
  private func contents(of path: String, limit: Int) throws -> [UInt8] {
    do {
      return try SystemFiles().contents(of: path, limit: limit)
    } catch {
      return try fail("\(path): \(error)")
    }
  }

  private func fail<Result>(_ message: String) throws -> Result {
    complain(message)
    throw ExitStatus.dataError
  }
}

extension SecurityLevel: ExpressibleByArgument {}
