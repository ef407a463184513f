/// What a software phone does day by day: its approvals, its tokens, signs of life (docs/devices.md).
import ArgumentParser
import Bytes
import Device
import JSON
import PortcullisDevice
import PortcullisProtocol
import Prompt
import System
import Time

extension Simulate.Phone {
  struct Approvals: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "approvals", abstract: "List what waits for the phone's vote, or vote.",
      discussion: """
        One line a request: its id, the operation, what it is about, who asks through which service, how many digits whoever \
        asks has been shown, the seconds that are left, and the service's own words.
        """)

    @ParentCommand var phone: Simulate.Phone

    @Flag(help: "Go on listing what comes.")
    var watch = false

    @Flag(help: "One JSON array; with --watch one JSON object a line.")
    var json = false

    @Option(help: ArgumentHelp("Approve a request.", valueName: "id"))
    var approve: String?

    @Option(help: "With --approve: the digits that the requester has been shown.")
    var code: String?

    @Option(help: ArgumentHelp("Deny a request.", valueName: "id"))
    var deny: String?

    @Option(help: ArgumentHelp("Deny a request, and report that nobody should have asked.", valueName: "id"))
    var report: String?

    func validate() throws {
      guard [approve, deny, report].compactMap(\.self).count + (watch ? 1 : 0) <= 1 else {
        throw ValidationError("--watch, --approve, --deny and --report exclude each other.")
      }
      guard code == nil || approve != nil else { throw ValidationError("--code belongs to --approve.") }
      _ = try chosen
    }

    private var chosen: (id: ApprovalID, vote: Vote)? {
      get throws {
        let (text, decision): (String, Decision) =
          if let approve { (approve, .approve) } else if let deny { (deny, .deny) } else if let report {
            (report, .report)
          } else { ("", .deny) }
        if text.isEmpty { return nil }
        guard let id = ApprovalID(text) else { throw ValidationError("an id is a UUID in lower case.") }
        guard let code = MatchCode(code ?? ""), let vote = Vote(decision, matchCode: code) else {
          throw ValidationError("--code takes two to six digits.")
        }
        return (id, vote)
      }
    }

    func run() throws {
      if let (id, vote) = try chosen { return try cast(vote, on: id) }
      let (json, watch) = (json, watch)
      try phone.withPhone { session async throws(DeviceFailure) in
        let open = try await session.approvals()
        if watch || !json {
          Self.show(open, json: json)
        } else {
          var writer = JSONWriter()
          writer.beginArray()
          for item in open { item.write(to: &writer) }
          writer.endArray()
          say(writer.string)
        }
        if watch { try await session.approvals(after: open) { Self.show($0, json: json) } }
      }
    }

    private static func show(_ items: [Approval], json: Bool) {
      for item in items {
        if json {
          var writer = JSONWriter()
          item.write(to: &writer)
          say(writer.string)
        } else {
          say(item.line(now: SystemClock().wall().seconds))
        }
      }
    }

    private func cast(_ vote: Vote, on id: ApprovalID) throws {
      let state = try phone.withPhone { session async throws(DeviceFailure) -> ApprovalState? in
        guard let item = try await session.approvals().first(where: { $0.id == id }) else { return nil }
        return try await session.vote(
          vote.decision, on: item, code: vote.matchCode.text, reason: item.summary?.operation ?? "")
      }
      guard let state else {
        complain("\(id) is not among what waits for this phone: see simulate phone approvals")
        throw ExitStatus.dataError
      }
      say(state.votesNeeded > 0 ? "\(state.word), votes needed: \(state.votesNeeded)" : state.word)
    }
  }
}

extension Approval {
  fileprivate func line(now: Int64) -> String {
    let left = "\(max(0, expiresAt.value - now))"
    guard let summary else {
      return [id.text, "unreadable", "-", "-", "\(matchDigits)", left, "-"].joined(separator: "  ")
    }
    let target = summary.target.members.map { member in
      "\(PrintableText.field(member.name))=\(PrintableText.field(member.value))"
    }
    return [
      id.text, PrintableText.field(summary.operation), target.isEmpty ? "-" : target.joined(separator: " "),
      "\(PrintableText.field(summary.requester.id))@\(PrintableText.field(summary.service))",
      "\(matchDigits)", left, PrintableText.field(summary.text),
    ].joined(separator: "  ")
  }

  /// Members as the gate has them, with the summary as the object that its bytes are; null where it cannot be read.
  fileprivate func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.name("id")
    writer.value(id.text)
    writer.name("summary")
    writer.raw(summary?.bytes ?? Array("null".utf8))
    writer.name("match_digits")
    writer.value(matchDigits)
    if let summary {
      writer.name("created_at")
      writer.value(summary.createdAt.value)
    }
    writer.name("expires_at")
    writer.value(expiresAt.value)
    writer.endObject()
  }
}

extension Simulate.Phone {
  struct Heartbeat: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "heartbeat", abstract: "Say that the phone is there, and hear what is expected of it.")

    @ParentCommand var phone: Simulate.Phone

    @Option(help: "The app's version, numbers with dots.")
    var appVersion: String?

    @Option(help: "Whether the phone is rooted, true or false; signed.")
    var rooted: Bool?

    func run() throws {
      let report = DeviceReport(appVersion: appVersion, rooted: rooted)
      let policy = try phone.withPhone { session async throws(DeviceFailure) in
        try await session.heartbeat(report)
      }
      try policy.text.say()
    }
  }
}

extension Simulate.Phone {
  struct Standing: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "self", abstract: "Show how the gate sees the phone.")

    @ParentCommand var phone: Simulate.Phone

    func run() throws {
      let answer = try phone.withPhone { session async throws(DeviceFailure) in try await session.itself() }
      try answer.say()
    }
  }
}

extension Simulate.Phone {
  struct Token: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "token", abstract: "Get a new token, for the gate or for somebody else.")

    @ParentCommand var phone: Simulate.Phone

    @Option(help: "One of the gate's TOKEN_AUDIENCES; the gate itself when left out.")
    var audience: String?

    func validate() throws {
      guard audience.map({ Audience($0) }) ?? .gate != nil else {
        throw ValidationError("--audience takes at most 256 bytes without control characters.")
      }
    }

    func run() throws {
      let audience = audience
      let token = try phone.withPhone { session async throws(DeviceFailure) in
        try await session.token(for: audience)
      }
      say(token)
    }
  }
}

extension [UInt8] {
  /// JSON that a gate has sent, on standard output.
  fileprivate func say() throws {
    var writer = JSONWriter()
    writer.raw(self)
    var output = Output()
    try output.line(json: writer)
    try output.flush()
  }
}
