/// What a peer of the admin listener may send (docs/console.md, "Admin listener"): requests are the same however their
/// bytes come, and whatever is in them stays in its place in the answer.
@testable internal import Admin
internal import HTTPWire

enum AdminRequestHarness {
  static func check(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    let whole = try said(of: bytes, every: max(1, bytes.count))
    try require(whole == said(of: bytes, every: 1), "whole and byte by byte differ")
    return whole.contains { $0.isCall } ? .accepted : .refused
  }

  private struct Said: Equatable {
    let isCall: Bool
    let text: [UInt8]
  }

  /// What the listener answers to all of it.
  private static func said(of bytes: [UInt8], every step: Int) throws(BrokenProperty) -> [Said] {
    var conversation = AdminConversation()
    var said: [Said] = []
    var rest = bytes[...]
    while true {
      switch conversation.next() {
      case .needMore:
        guard !rest.isEmpty else { return said }
        conversation.take(Array(rest.prefix(step)).span)
        rest = rest.dropFirst(step)
      // Whether it is said depends on what has come by then.
      case .sendContinue: break
      case .call(let call): said.append(Said(isCall: true, text: try answer(to: call)))
      case .refused(let reply, let isHead, let isClosing):
        said.append(Said(isCall: false, text: try encoded(reply, isHead: isHead, isClosing: isClosing)))
        if isClosing { return said }
      }
    }
  }

  private static func answer(to call: AdminCall) throws(BrokenProperty) -> [UInt8] {
    try require(call.body.count <= AdminConversation.Limits.bodyBytes, "a body above its limit")
    try require(call.body.isEmpty || call.head.method == .post, "a body that is no form's")
    let routing = AdminRouting(handler: Echo()) { _, _, _ in
      .actor(AdminActor(name: "alice", scopes: [.read, .write]), formToken: "")
    }
    let isHead = call.head.method == .head
    switch routing.outcome(call, over: .loopback) {
    case .reply(let reply): return try encoded(reply, isHead: isHead, isClosing: !call.head.keepsAlive)
    case .work(let request):
      try require(request.query.fields.count <= AdminForm.mostFields, "a query above its limit")
      try require(request.isChange == (call.head.method == .post), "a change that is none")
      return try encoded(
        AdminReply(Echo().work(request), isVersioned: false), isHead: isHead, isClosing: false)
    }
  }

  /// One status line, each field once but those of a kind, the guards, an empty line, and the body behind it.
  private static func encoded(
    _ reply: AdminReply, isHead: Bool, isClosing: Bool
  ) throws(BrokenProperty) -> [UInt8] {
    let bytes = reply.encoded(
      AdminReply.Manner(date: "", isHead: isHead, isClosing: isClosing, isChunked: true))
    var lines: [String] = []
    var start = 0
    for index in bytes.indices where bytes[index] == 0x0A {
      try require(index > start && bytes[index - 1] == 0x0D, "a bare line feed")
      let line = String(decoding: bytes[start..<index - 1], as: UTF8.self)
      start = index + 1
      if line.isEmpty { break }
      lines.append(line)
    }
    try require(lines.first?.hasPrefix("HTTP/1.1 ") ?? false, "no status line")
    let names = lines.dropFirst().map { $0.prefix { $0 != ":" }.lowercased() }
    try require(Set(names).count == names.count, "a field twice: \(lines)")
    try require(names.contains("content-security-policy"), "no guards")
    let known = allowed.union(["content-security-policy", "x-content-type-options"])
    try require(names.allSatisfy(known.contains), "a field that nobody wrote: \(lines)")
    for line in lines where line.hasPrefix("Location: ") {
      try require(line.hasPrefix("Location: /") && !line.hasPrefix("Location: //"), "another site: \(line)")
    }
    return bytes
  }

  private static let allowed: Set<String> = [
    "date", "content-type", "content-length", "transfer-encoding", "connection", "cache-control", "etag",
    "allow",
    "retry-after", "www-authenticate", "location", "content-disposition", "cross-origin-opener-policy",
    "cross-origin-resource-policy", "referrer-policy",
  ]
}

/// Puts what the peer says wherever an answer has a place for it.
private struct Echo: AdminHandler {
  var isAlive: Bool { true }
  var readiness: Readiness { Readiness(checks: []) }
  func metrics() -> [UInt8] { [] }
  func asset(_ path: String) -> AdminAnswer? { nil }

  func answerAtOnce(_ request: AdminRequest) -> AdminAnswer? {
    request.query["to"].map { .seeOther($0) }
  }

  func work(_ request: AdminRequest) -> AdminAnswer {
    if let name = request.query["name"] {
      return .stream(contentType: "application/json", fileName: name, Nothing())
    }
    return .seeOther(request.form["to"] ?? request.path)
  }
}

private final class Nothing: AdminBody {
  func next() -> [UInt8]? { nil }
}
