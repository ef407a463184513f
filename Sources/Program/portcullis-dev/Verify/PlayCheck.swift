/// A token as an app has got it, step by step, with the keys of the gate (docs/android.md, "Play Integrity").
import ArgumentParser
import Bytes
import Configuration
import DeviceWire
import JSON
import PlayIntegrity
import Prompt
import System
import Time
import Vectors

struct PlayCheck {
  /// The file of the gate's keys.
  let keys: String
  let apps: String
  let nonce: String
  let level: PlayLevel
  let at: String?
  /// In seconds.
  let maxAge: Int64
  let file: String

  func run() throws {
    let pairs = try readKeys()
    let apps = try readApps()
    let nonce = try readNonce()
    let now = try readTime()
    guard (0...Self.longestAge).contains(maxAge) else {
      throw ValidationError("--max-age is from 0 to \(Self.longestAge)")
    }
    var token = try contents(of: file, limit: 1 << 20)
    while let last = token.last, last == 0x0A || last == 0x0D { token.removeLast() }
    let verifier = PlayVerifier()
    var payload: PlayPayload?
    var failed: PlayRejection?
    do throws(PlayRejection) {
      let opened = try verifier.open(token.span, keys: pairs)
      payload = opened
      _ = try opened.judge(
        nonce: nonce, apps: apps, now: now, maximumAge: .seconds(maxAge), required: level)
    } catch {
      failed = error
    }
    try tell(failed, payload.map(Self.facts) ?? Self.facts(unopened: token))
    if failed != nil { throw ExitCode(1) }
  }

  /// A year: nothing that is asked about is older, and sums with it are far from overflowing.
  private static let longestAge: Int64 = 366 * 86_400

  // MARK: What is told

  private func tell(_ failed: PlayRejection?, _ facts: [(String, String)]) throws {
    var output = Output()
    try output.line("\(failed == nil ? "accept" : "reject")  \(PrintableText.field(file))")
    let held = PlayRejection.allCases.prefix { $0 != failed }
    for line in columns(held.map { ($0.rawValue, $0.rule) }) { try output.line("  ok     \(line)") }
    if let failed { try output.line("  fails  \(failed.rawValue)  not so: \(failed.rule)") }
    for line in columns(facts) { try output.line("  \(line)") }
    try output.flush()
  }

  /// All that Google has signed, whether it is judged or not.
  private static func facts(_ payload: PlayPayload) -> [(String, String)] {
    payload.object.members.map { member in
      var writer = JSONWriter()
      writer.value(member.value)
      return (
        PrintableText.field(member.name, limit: 64),
        String(decoding: Output.printable(writer.bytes), as: UTF8.self)
      )
    }
  }

  /// Of a token that stays shut, what it says in the open.
  private static func facts(unopened token: [UInt8]) -> [(String, String)] {
    let parts = token.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map(Array.init)
    var facts = [("bytes", "\(token.count)"), ("parts", "\(parts.count)")]
    if parts.count == 3 {
      facts.append(
        ("hint", "a classic request's token has five parts: this is a signed one, such as SafetyNet had"))
    }
    if let first = parts.first, let header = Base64.decodeURL(first.span), parts.count > 1 {
      facts.append(("header", PrintableText.field(header.span, limit: 200)))
    }
    return facts
  }

  // MARK: What is given

  private func readKeys() throws -> [PlayKeys] {
    let contents = try contents(of: keys, limit: PlayKeys.largestFile)
    do throws(PlayKeysProblem) {
      return try PlayKeys.read(contents.span)
    } catch {
      complain("\(keys): \(error)")
      throw ExitStatus.dataError
    }
  }

  private func readApps() throws -> [AndroidApp] {
    do throws(AndroidApp.ParseError) {
      return try AndroidApp.list(parsing: apps)
    } catch {
      throw ValidationError("--apps \(error)")
    }
  }

  private func readNonce() throws -> Bytes32 {
    guard let nonce = Base64.decode(Array(nonce.utf8).span).flatMap({ Bytes32($0) }) else {
      throw ValidationError("--nonce is not base64url of 32 bytes")
    }
    return nonce
  }

  private func readTime() throws -> UnixTime {
    guard let at else { return SystemClock().wall() }
    guard let time = UnixTime(timestamp: at) else {
      throw ValidationError("--at is no time as 2026-03-02T12:00:00Z")
    }
    return time
  }

  /// One byte more than `limit`, where there are more.
  private func contents(of path: String, limit: Int) throws -> [UInt8] {
    do {
      return try SystemFiles().contents(of: path, limit: limit)
    } catch {
      complain("\(path): \(error)")
      throw ExitStatus.dataError
    }
  }
}

extension PlayLevel: ExpressibleByArgument {}
