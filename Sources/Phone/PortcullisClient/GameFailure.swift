/// Why something between an app and its gate came to nothing, as a value that an app can show, log and compare.
public import PortcullisProtocol

/// What went wrong: its kind decides what happens next, the rest says more.
public struct GameFailure: Error, Equatable, Sendable, CustomStringConvertible {
  /// What kind of failure it is. Kinds may be added: compare with those that you know, and show `detail` for the others.
  public struct Kind: Hashable, Sendable, CustomStringConvertible {
    /// Its name, as in `offline`.
    public let description: String

    package init(_ name: String) { description = name }

    /// The device has no network. Tried again when it has one, and after 30 s at the latest.
    public static let offline = Kind("offline")
    /// The gate's host is unknown, does not answer, or has dropped the connection. Tried again after 1 to 30 s.
    public static let unreachable = Kind("unreachable")
    /// The gate did not answer in time. Tried again after 1 to 30 s.
    public static let timeout = Kind("timeout")
    /// The gate's certificate is not to be trusted. Tried again after 30 s to 10 min.
    public static let untrusted = Kind("untrusted")
    /// The gate's certificate is none of those that are pinned. Not tried again before the network changes, the app comes
    /// to the foreground, or `GameSession.retry()` is called: a network with a login page looks like this, too.
    public static let pinMismatch = Kind("pinMismatch")
    /// Something in between has answered, such as a network's login page. Tried again after 5 s to 1 min.
    public static let interference = Kind("interference")
    /// The gate has refused, and has said why: `code` and `status`.
    public static let refused = Kind("refused")
    /// App Attest has failed: `deviceCheck` is its error.
    public static let attestation = Kind("attestation")
    /// Three keys were made within a day; the next one may be made when the first of them is a day old.
    public static let keyBrake = Kind("keyBrake")
    /// What is remembered cannot be read: locked before the first unlock of the phone, or written by a later version.
    public static let storage = Kind("storage")
    /// There is no App Attest here, and no certificate. Final.
    public static let unsupported = Kind("unsupported")
    /// The gate's address is none, or the system forbids the connection. Final.
    public static let unusable = Kind("unusable")
    /// Another session of this process has the same name. Final for this one.
    public static let nameInUse = Kind("nameInUse")
    /// The gate has broken a rule of the protocol. Final.
    public static let protocolViolation = Kind("protocol")
  }

  /// What went wrong.
  public let kind: Kind
  /// The gate's reason; nil where it gave none, or one of later times, which `detail` then has.
  public let code: RefusalCode?
  /// Of the HTTP answer; nil where there was none.
  public let status: Int?
  /// The raw value of App Attest's error (`DCError`); nil where it was not asked or has not failed.
  public let deviceCheck: Int?
  /// The gate's identifier of this attempt (`Portcullis-Trace`), by which its log is searched.
  public let trace: String?
  /// In words, for a log.
  public let detail: String

  /// - Parameters:
  ///   - kind: what went wrong.
  ///   - code: the gate's reason.
  ///   - status: of the HTTP answer.
  ///   - deviceCheck: the raw value of App Attest's error.
  ///   - trace: the gate's identifier of this attempt.
  ///   - detail: in words.
  public init(
    _ kind: Kind, code: RefusalCode? = nil, status: Int? = nil, deviceCheck: Int? = nil, trace: String? = nil,
    detail: String = ""
  ) {
    self.kind = kind
    self.code = code
    self.status = status
    self.deviceCheck = deviceCheck
    self.trace = trace
    self.detail = detail
  }

  /// Such as `refused 503 overloaded: try again in 5 s (trace 7f…)`.
  public var description: String {
    var text = kind.description
    if let status { text += " \(status)" }
    if let code { text += " \(code.rawValue)" }
    if let deviceCheck { text += " DCError \(deviceCheck)" }
    if !detail.isEmpty { text += ": \(detail)" }
    if let trace { text += " (trace \(trace))" }
    return text
  }
}

/// An answer of the gate's other than the one that was asked for, or of something in between.
package struct GateRefusal: Equatable, Sendable {
  /// Of HTTP.
  package let status: Int
  /// The value of `Portcullis-Error`; nil if something in between has answered.
  package let code: String?
  /// In seconds.
  package let retryAfter: Double?
  package let trace: String?

  package init(status: Int, code: String?, retryAfter: Double? = nil, trace: String? = nil) {
    self.status = status
    self.code = code
    // A pause without end, or one that lies in the past, is none that a gate names.
    self.retryAfter = retryAfter.flatMap {
      $0.isFinite ? min(max(0, $0), SessionLimit.longestNamedPause) : nil
    }
    self.trace = trace
  }

  package init(_ answer: GateAnswer) {
    self.init(status: answer.status, code: answer.code, retryAfter: answer.retryAfter, trace: answer.trace)
  }

  package var known: RefusalCode? { code.flatMap(RefusalCode.init) }

  package var failure: GameFailure {
    guard let code else {
      return GameFailure(
        .interference, status: status, trace: trace, detail: "the answer has no Portcullis-Error")
    }
    var detail = known == nil ? code : ""
    if let retryAfter { detail += (detail.isEmpty ? "" : ", ") + "try again in \(Int(retryAfter)) s" }
    return GameFailure(.refused, code: known, status: status, trace: trace, detail: detail)
  }
}
