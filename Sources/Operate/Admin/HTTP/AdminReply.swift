/// What the admin listener answers, with the fields that keep other sites and old pages out (docs/console.md, "Admin listener").
internal import Bytes
internal import Crypto
internal import HTTPWire

struct AdminReply: Sendable, Equatable {
  enum Content: Sendable, Equatable {
    case whole([UInt8])
    /// Comes piece by piece, after the head.
    case pieces
  }

  enum Keeping: Sendable, Equatable {
    case no
    /// Asked for again by its tag each time, and perhaps not sent again.
    case byTag
    /// The same by a script that has it in memory, and nobody writes it down.
    case inMemory
    /// Of the program's version, which the address names.
    case forGood
  }

  private(set) var status: Status
  private(set) var content: Content
  private(set) var keeping = Keeping.no
  private var fields: [Field] = []

  private struct Field: Sendable, Equatable {
    let name: String
    let value: String
  }

  init(_ status: Status, type: String, _ bytes: [UInt8], keeping: Keeping = .no) {
    self.status = status
    content = .whole(bytes)
    self.keeping = keeping
    add("Content-Type", type)
    // RFC 9110 §15.6.4: an answer that says to try again says when.
    if status == .serviceUnavailable { add("Retry-After", "2") }
  }

  /// A line for a human reader.
  static func text(_ status: Status, _ line: String) -> AdminReply {
    AdminReply(status, type: "text/plain; charset=utf-8", Array("\(line)\n".utf8))
  }

  static func methodNotAllowed(_ allowed: String = "GET, HEAD, POST") -> AdminReply {
    var reply = text(.methodNotAllowed, "the method is not allowed here")
    reply.add("Allow", allowed)
    return reply
  }

  /// The threads of the listener have too much to do.
  static func busy() -> AdminReply { text(.serviceUnavailable, "the console is busy: try again") }

  static func unauthorized() -> AdminReply {
    var reply = text(.unauthorized, "a token is needed, or a browser that is signed in")
    reply.add("WWW-Authenticate", #"Bearer realm="portcullis""#)
    return reply
  }

  /// - Parameter path: of the console; anything else leads to its first page, and never to another site.
  static func seeOther(_ path: String) -> AdminReply {
    let isOurs =
      path.hasPrefix("/") && !path.hasPrefix("//")
      && path.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x5C }
    var reply = text(.seeOther, "see there")
    reply.add("Location", isOurs ? path : "/")
    return reply
  }

  /// - Parameter isVersioned: the address names the program's version.
  init(_ answer: AdminAnswer, isVersioned: Bool) {
    switch answer {
    case .page(let status, let bytes): self.init(Status(status), type: "text/html; charset=utf-8", bytes)
    case .json(let status, let bytes):
      self.init(
        Status(status), type: "application/json; charset=utf-8", bytes,
        keeping: status == .ok ? .inMemory : .no)
    case .asset(let type, let bytes):
      self.init(.ok, type: type, bytes, keeping: isVersioned ? .forGood : .byTag)
    case .seeOther(let path): self = .seeOther(path)
    case .stream(let type, let name, _):
      self.init(.ok, type: type, [])
      content = .pieces
      add("Content-Disposition", #"attachment; filename="\#(Self.fileName(name))""#)
    }
  }

  mutating func add(_ name: String, _ value: String) {
    fields.append(Field(name: name, value: value))
  }

  /// 304 where the peer has these very bytes.
  func answering(_ tags: [String]) -> AdminReply {
    guard keeping != .no, status == .ok, let tag else { return self }
    let isKnown = tags.contains { $0 == "*" || $0 == tag || $0 == "W/\(tag)" }
    guard isKnown else { return self }
    var reply = self
    reply.status = .notModified
    reply.content = .whole([])
    reply.fields = [Field(name: "ETag", value: tag)]
    return reply
  }

  /// RFC 9110 §8.8.3: over the bytes; nil where nothing is kept.
  private var tag: String? {
    guard keeping != .no, case .whole(let bytes) = content else { return nil }
    return "\"\(Hex.encode(SHA256.hash(bytes.span).array.span.extracting(..<16)))\""
  }

  /// The bytes for the wire, or the head alone where pieces follow.
  func encoded(_ manner: Manner) -> [UInt8] {
    var head = ResponseHead(status, reserving: 1024)
    head.add("Date", manner.date)
    for field in fields { head.add(field.name, field.value) }
    if status != .notModified, let tag { head.add("ETag", tag) }
    switch keeping {
    case .no, .inMemory: head.add("Cache-Control", "no-store")
    case .byTag: head.add("Cache-Control", "private, no-cache")
    case .forGood: head.add("Cache-Control", "private, max-age=31536000, immutable")
    }
    for (name, value) in Self.guards { head.add(name, value) }
    var body: [UInt8] = []
    switch content {
    // RFC 9110 §15.4.5: 304 has no content.
    case .whole(let bytes) where status != .notModified:
      head.add("Content-Length", String(bytes.count))
      if !manner.isHead { body = bytes }
    case .whole: break
    case .pieces: if manner.isChunked { head.add("Transfer-Encoding", "chunked") }
    }
    if manner.isClosing { head.add("Connection", "close") }
    return head.ended() + body
  }

  /// How a reply goes out.
  struct Manner: Sendable {
    let date: String
    /// The request was HEAD, so the body stays here (RFC 9110 §9.3.2).
    let isHead: Bool
    let isClosing: Bool
    /// Pieces have their lengths (RFC 9112 §7.1); else the end of the connection is theirs.
    let isChunked: Bool
  }

  /// With every answer, whatever it is: nothing but the console's own is loaded, framed or read by others.
  private static let guards = [
    (
      "Content-Security-Policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    ("X-Content-Type-Options", "nosniff"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Referrer-Policy", "no-referrer"),
  ]

  /// Letters, digits and a few more of them; the rest becomes `_`.
  private static func fileName(_ name: String) -> String {
    String(
      decoding: name.utf8.map { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
          byte
        default: UInt8(ascii: "_")
        }
      }, as: UTF8.self)
  }
}

extension Status {
  fileprivate init(_ status: AdminStatus) {
    self =
      switch status {
      case .ok: .ok
      case .badRequest: .badRequest
      case .forbidden: .forbidden
      case .notFound: .notFound
      case .conflict: .conflict
      case .unavailable: .serviceUnavailable
      }
  }
}

/// A piece of what has no length beforehand (RFC 9112 §7.1).
enum Chunk {
  /// - Parameter bytes: not empty, as a chunk without bytes is the end.
  static func encoded(_ bytes: [UInt8]) -> [UInt8] {
    Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + [0x0D, 0x0A]
  }

  static let end = Array("0\r\n\r\n".utf8)
}
