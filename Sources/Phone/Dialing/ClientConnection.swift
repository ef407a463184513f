/// One connection to a gate with the bytes read from it but not used yet; requests go one after the other.
struct ClientConnection: ~Copyable {
  var stream: TLSConnection
  private var received: [UInt8] = []
  /// Whether the last response left it fit for another request.
  private(set) var isReusable = true

  init(_ stream: consuming TLSConnection) {
    self.stream = stream
  }

  /// Whether the server has kept an idle connection open, as far as can be told without waiting.
  mutating func isStillOpen() -> Bool {
    guard isReusable, received.isEmpty else { return false }
    // Session tickets leave nothing to read; whatever does is either the end or nothing that was asked for.
    do { return try stream.readAvailable() == nil } catch { return false }
  }

  /// Sends a request and reads its response, whole.
  mutating func exchange(_ request: [UInt8], _ deadline: Deadline) throws(GateClientError) -> GateResponse {
    isReusable = false
    try stream.write(request, deadline)
    while true {
      let head = try readHead(deadline)
      received.removeFirst(head.length)
      // Interim responses come before the one that counts (RFC 9110 §15.2); 101 is not one of them.
      if head.response.status < 200, head.response.status != 101 {
        // What has come already is read without a look at the time.
        if deadline.hasPassed { throw .timedOut(during: "response") }
        continue
      }
      var response = head.response
      response.body = try readBody(head.body, deadline)
      isReusable = head.keepsAlive && response.status != 101
      return response
    }
  }

  /// What came after the last response.
  mutating func takeReceived() -> [UInt8] { take(received.count) }

  private mutating func take(_ count: Int) -> [UInt8] {
    let taken = Array(received.prefix(count))
    received.removeFirst(count)
    return taken
  }

  /// Waits for more bytes and appends them; false at the end.
  private mutating func readMore(_ deadline: Deadline) throws(GateClientError) -> Bool {
    let bytes = try stream.read(deadline)
    received += bytes
    return !bytes.isEmpty
  }

  private mutating func readHead(_ deadline: Deadline) throws(GateClientError) -> ResponseHead.Parsed {
    while true {
      if let head = try ResponseHead.parse(received) { return head }
      guard try readMore(deadline) else { throw .closed }
    }
  }

  private mutating func readBody(_ body: ResponseHead.Body, _ deadline: Deadline) throws(GateClientError)
    -> [UInt8]
  {
    switch body {
    case .length(let length):
      while received.count < length {
        guard try readMore(deadline) else { throw .closed }
      }
      return take(length)
    case .untilClose:
      while try readMore(deadline) {
        guard received.count <= ResponseHead.largestBody else { throw .malformedResponse("an endless body") }
      }
      return takeReceived()
    }
  }
}
