/// The bytes of one connection to the admin listener, parted into requests: no socket and no clock in it.
internal import HTTPWire

struct AdminConversation {
  enum Limits {
    /// A page's cookie and query take some hundred bytes.
    static let head = RequestParser.Limits(headBytes: 8 * 1024, fields: 64)
    /// A form has a name, a reason and a token.
    static let bodyBytes = 64 * 1024
    /// What is taken in at a time.
    static let readBytes = 16 * 1024
  }

  enum Step {
    case needMore
    /// The peer waits for this before it sends the body.
    case sendContinue
    case call(AdminCall)
    case refused(AdminReply, isHead: Bool, closing: Bool)
  }

  private var parser = RequestParser(limits: Limits.head)
  /// Taken in; what lies before `start` has been used.
  private var buffer: [UInt8] = []
  private var start = 0
  /// Its body is not whole.
  private var pending: RequestHead?
  /// Of one in chunks.
  private var decoder: ChunkedDecoder?
  private var decoded: [UInt8] = []

  /// Whether a byte of a request has come that is not whole.
  var hasBegun: Bool { pending != nil || start < buffer.count }

  /// What is taken in waits until the requests before it have been answered: whoever takes in no more until `next` needs
  /// it holds one request and one read.
  mutating func take(_ bytes: Span<UInt8>) {
    if start > 0 {
      buffer.removeSubrange(..<start)
      start = 0
    }
    for index in bytes.indices { buffer.append(bytes[index]) }
  }

  mutating func next() -> Step {
    if let pending { return body(of: pending) }
    let buffer = buffer
    switch parser.parse(buffer.span.extracting(start...)) {
    case .needMore: return .needMore
    case .refused(let refusal):
      start += refusal.consumed ?? 0
      return .refused(
        .text(refusal.status, "the request is malformed: \(refusal.step)"), isHead: refusal.isHead,
        closing: !refusal.connectionMayLive)
    case .head(let head, let consumed):
      start += consumed
      return begin(head)
    }
  }

  private mutating func begin(_ head: RequestHead) -> Step {
    let length = head.bodyLength ?? 0
    // A body that nobody reads would be taken for the next request.
    guard length == 0 && !head.isChunked || head.method == .post else {
      return .refused(
        head.method == .other || head.method == .delete
          ? .methodNotAllowed() : .text(.badRequest, "this request has no body"),
        isHead: head.method == .head, closing: true)
    }
    guard length <= Limits.bodyBytes else {
      return .refused(
        .text(.contentTooLarge, "a form has at most \(Limits.bodyBytes) bytes"), isHead: false, closing: true)
    }
    guard length > 0 || head.isChunked else { return .call(AdminCall(head: head, body: [])) }
    pending = head
    if head.isChunked { decoder = ChunkedDecoder(limit: Limits.bodyBytes) }
    if head.expectsContinue, buffer.count - start < max(1, length) { return .sendContinue }
    return body(of: head)
  }

  private mutating func body(of head: RequestHead) -> Step {
    if decoder != nil { return chunkedBody(of: head) }
    let length = head.bodyLength ?? 0
    guard buffer.count - start >= length else { return .needMore }
    let body = Array(buffer[start..<start + length])
    start += length
    pending = nil
    return .call(AdminCall(head: head, body: body))
  }

  private mutating func chunkedBody(of head: RequestHead) -> Step {
    let buffer = buffer
    do throws(ChunkedDecoder.Violation) {
      start += try decoder?.decode(buffer.span.extracting(start...), into: &decoded) ?? 0
    } catch {
      return .refused(
        error == .bodyLength
          ? .text(.contentTooLarge, "a form has at most \(Limits.bodyBytes) bytes")
          : .text(.badRequest, "the body's chunks are malformed: \(error.step)"), isHead: false, closing: true
      )
    }
    guard decoder?.isWhole == true else { return .needMore }
    defer { (pending, decoder, decoded) = (nil, nil, []) }
    return .call(AdminCall(head: head, body: decoded))
  }
}

/// A whole request.
struct AdminCall: Sendable {
  let head: RequestHead
  let body: [UInt8]
}
