/// Heads of requests about devices: their query, their bearer token, and their name. What a query says does not depend on the
/// order of its members, nor on members that are allowed and not there; what is passed on holds nothing that breaks a line.
internal import HTTPWire

enum DeviceHeadHarness {
  static func check(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    var parser = RequestParser()
    guard case .head(let head, _) = parser.parse(bytes.span) else { return .refused }
    let isQuery = try checkQuery(head.query)
    let token = BearerToken(head)
    if let token { try check(token, head) }
    let trace = TraceID(head)
    if let trace { try check(trace, head) }
    return isQuery || token != nil || trace != nil ? .accepted : .refused
  }

  /// Whether the query has a member that is good.
  private static func checkQuery(_ text: String?) throws(BrokenProperty) -> Bool {
    let all = Set(DeviceQuery.Name.allCases)
    guard let text, let query = try? DeviceQuery(text, allowing: all) else { return false }
    let there = all.filter { query[$0] != nil }
    try require((try? DeviceQuery(text, allowing: there)) == query, "other values where less is allowed")
    for name in there {
      try require((try? DeviceQuery(text, allowing: all.subtracting([name]))) == nil, "what is not allowed")
      try require(DeviceQuery.names(name, in: text), "a member that is there, and is not named")
      try require(
        query[name]?.utf8.allSatisfy { (0x21...0x7E).contains($0) } == true, "a byte that is not visible")
    }
    let members = text.split(separator: "&", omittingEmptySubsequences: false)
    let reversed = members.reversed().joined(separator: "&")
    try require((try? DeviceQuery(reversed, allowing: all)) == query, "other values in another order")
    if let first = members.first, !first.isEmpty {
      try require((try? DeviceQuery("\(text)&\(first)", allowing: all)) == nil, "a member twice")
    }
    if let wait = query.wait {
      try require((.seconds(1)...Duration.seconds(DeviceQuery.longestWait)).contains(wait), "too long a wait")
    }
    return !there.isEmpty
  }

  private static func check(_ token: BearerToken, _ head: RequestHead) throws(BrokenProperty) {
    try require((1...BearerToken.longest).contains(token.text.utf8.count), "a token of another length")
    try require(token.text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x2C }, "no byte of a token")
    try require(head.value("Authorization")?.hasSuffix(" \(token.text)") == true, "a token that was not sent")
  }

  private static func check(_ trace: TraceID, _ head: RequestHead) throws(BrokenProperty) {
    try require((1...TraceID.longest).contains(trace.text.utf8.count), "a name of another length")
    try require(trace.text.utf8.allSatisfy(TokenSyntax.isTokenByte), "a name that breaks a line of the log")
    try require(head.value("X-Trace-Id") == trace.text, "a name that was not sent")
  }
}
