/// The seam between a session and the network: requests, and WebSockets of which a session uses one at a time.
#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A name and a value of an HTTP header.
public struct GateField: Equatable, Sendable {
  /// As it is sent; compared without case.
  public let name: String
  /// Printable ASCII.
  public let value: String

  /// - Parameters:
  ///   - name: of the field.
  ///   - value: of the field.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// A request that is no upgrade: for a challenge, or with a registration.
public struct GateRequest: Equatable, Sendable {
  /// `https`, at the gate.
  public let url: URL
  /// `GET` or `POST`.
  public let method: String
  /// Beside those that the transport adds by itself, such as `Host` and `Content-Length`.
  public let fields: [GateField]
  /// Nil with `GET`.
  public let body: [UInt8]?
  /// Seconds within which the whole answer must have come; else the transport fails with `timeout`.
  public let timeLimit: Double

  package init(
    url: URL, method: String, fields: [GateField] = [], body: [UInt8]? = nil, timeLimit: Double = 30
  ) {
    self.url = url
    self.method = method
    self.fields = fields
    self.body = body
    self.timeLimit = timeLimit
  }
}

/// The gate's answer to a `GateRequest`, whatever its status.
public struct GateAnswer: Equatable, Sendable {
  /// Of HTTP: 100 to 599.
  public let status: Int
  /// The value of `Portcullis-Error`; nil where there was none.
  public let code: String?
  /// The value of `Retry-After` in seconds; nil where there was none.
  public let retryAfter: Double?
  /// The value of `Portcullis-Trace`; nil where there was none.
  public let trace: String?
  /// Whole, without any encoding.
  public let body: [UInt8]

  /// - Parameters:
  ///   - status: of HTTP.
  ///   - code: the value of `Portcullis-Error`.
  ///   - retryAfter: the value of `Retry-After`, in seconds.
  ///   - trace: the value of `Portcullis-Trace`.
  ///   - body: the whole body.
  public init(status: Int, code: String?, retryAfter: Double?, trace: String? = nil, body: [UInt8]) {
    self.status = status
    self.code = code
    self.retryAfter = retryAfter
    self.trace = trace
    self.body = body
  }
}

/// A WebSocket's opening handshake (RFC 6455 §4.1).
public struct GateUpgrade: Equatable, Sendable {
  /// `wss`, at the gate, with the path that the app named.
  public let url: URL
  /// What to offer in `Sec-WebSocket-Protocol`.
  public let subprotocol: String
  /// To be sent beside those of the handshake.
  public let fields: [GateField]
}

/// Why a transport has nothing to give. Any other error that it throws counts as `unreachable`.
public enum GateTransportError: Error, Equatable, Sendable {
  /// An answer other than 101 to an upgrade: its status, the value of `Portcullis-Error`, that of `Retry-After` in seconds,
  /// and that of `Portcullis-Trace`. Nil where there were none.
  case refused(status: Int, code: String?, retryAfter: Double?, trace: String? = nil)
  /// There is no answer: `offline`, `unreachable`, `timeout`, `untrusted`, `pinMismatch`, `interference` or `unusable`, and
  /// why, in words.
  case failed(GameFailure.Kind, String)
}

/// How a session reaches its gate. On Apple's platforms `URLSessionTransport` does it.
public protocol GateTransport: Sendable {
  /// Sends one request and reads its answer, at most 64 KiB of it, within the request's time.
  func request(_ request: GateRequest) async throws -> GateAnswer

  /// Opens a WebSocket within a time of the transport's own. It must not follow redirections.
  /// - Throws: `GateTransportError.refused` for any answer but 101.
  func connect(_ upgrade: GateUpgrade) async throws -> any GateConnection

  /// Something each time that the network has become another one, for as long as it is asked; nil where the transport
  /// does not know: the app then calls `GameSession.pathChanged()`.
  var pathChanges: AsyncStream<Void>? { get }
}

extension GateTransport {
  /// None are known.
  public var pathChanges: AsyncStream<Void>? { nil }
}

/// A message of a WebSocket (RFC 6455 §5.6).
public enum GateMessage: Equatable, Sendable {
  /// UTF-8.
  case text(String)
  /// Bytes.
  case binary([UInt8])
}

/// What comes over a connection next.
public enum GateArrival: Equatable, Sendable {
  /// A whole message.
  case message(GateMessage)
  /// The gate's Close, after which nothing comes: its code, or nil where it had none or the platform does not tell.
  case closed(code: UInt16?)
}

/// An open WebSocket. A session sends one message after the other, and receives at the same time.
public protocol GateConnection: Sendable {
  /// What the gate has chosen of the offer; nil: nothing.
  var subprotocol: String? { get }

  /// Returns when the message is on its way, so that the next one comes after it.
  func send(_ message: GateMessage) async throws

  /// The next thing to come; called again only when it has returned. Nothing more than one message is to be read ahead of
  /// the calls: a session that does not ask wants the gate to wait. A connection that is lost without a Close throws.
  func receive() async throws -> GateArrival

  /// Sends a ping, and returns when its pong has come.
  func ping() async throws

  /// Sends a Close. What the gate still has to say, and its own Close, come by `receive`.
  /// - Parameter code: 1000, 1001 or 1002.
  func close(code: UInt16) async throws

  /// Drops the connection as it is: calls that are under way throw. May be called at any time, from any thread, more than
  /// once.
  func abandon()
}
