/// Why something about a device came to nothing: what an app tells its person, and what it writes down.
public import PortcullisProtocol

/// A failure with all that is known of it.
public struct DeviceFailure: Error, Equatable, Sendable, CustomStringConvertible {
  /// What is the matter. More may come in later versions: an app that shows `detail` for those it does not know goes on.
  public struct Kind: Hashable, Sendable, CustomStringConvertible {
    /// The kind's own name.
    public let description: String

    init(_ word: String) {
      description = word
    }

    /// There is no network.
    public static let offline = Self("offline")
    /// No connection to the gate.
    public static let unreachable = Self("unreachable")
    /// Nothing was heard in time, or the connection broke before the answer: the gate may have done what was asked.
    public static let timeout = Self("timeout")
    /// The gate's certificate, or the gate itself, is not the one that this phone knows.
    public static let untrusted = Self("untrusted")
    /// The gate's key is none of the pins.
    public static let pinMismatch = Self("pinMismatch")
    /// Something else than a gate has answered.
    public static let interference = Self("interference")
    /// The gate has refused; `code` and `status` say why.
    public static let refused = Self("refused")
    /// What vouches for the app has nothing to say now.
    public static let attestation = Self("attestation")
    /// Too many keys were made for a day.
    public static let keyBrake = Self("keyBrake")
    /// What the phone remembers cannot be read or written now. Nothing was made in its place.
    public static let storage = Self("storage")
    /// This phone cannot do it.
    public static let unsupported = Self("unsupported")
    /// No other attempt would mend it.
    public static let unusable = Self("unusable")
    /// The gate's answer breaks the rules.
    public static let protocolViolation = Self("protocol")

    /// The person does not want to, or the prompt went away.
    public static let cancelled = Self("cancelled")
    /// The approval key is gone, as after another face or finger was added: `rotate(approvalKey:)` makes a new one.
    public static let approvalKeyGone = Self("approvalKeyGone")
    /// The device key is gone: the phone has to be paired anew.
    public static let keysLost = Self("keysLost")
    /// Too many wrong faces or fingers: the passcode unlocks it.
    public static let biometryLocked = Self("biometryLocked")
    /// No face or finger is enrolled, or no passcode is set.
    public static let biometryUnavailable = Self("biometryUnavailable")
    /// The app is not in front, where a person could be asked.
    public static let notInteractive = Self("notInteractive")
    /// The phone's clock is wrong by more than five minutes; `gateTime` is right.
    public static let clockSkewed = Self("clockSkewed")
    /// This session has a gate already: `forget()` comes before another one.
    public static let alreadyPaired = Self("alreadyPaired")
    /// The phone belongs to no gate.
    public static let notPaired = Self("notPaired")
    /// The pairing has ended: with `code` the gate does not take its QR code, without one the operator has said no.
    public static let rejected = Self("rejected")
    /// What is asked cannot be shown as it is: it can be denied and reported, not approved.
    public static let unreadable = Self("unreadable")
  }

  /// What is the matter.
  public let kind: Kind
  /// Of `refused`, `rejected` and `clockSkewed`: the gate's word, where it is one that this version knows.
  public let code: RefusalCode?
  /// Of an answer: HTTP's.
  public let status: Int?
  /// In seconds, where the gate has said when to come again.
  public let retryAfter: Double?
  /// Of `clockSkewed`: the gate's clock.
  public let gateTime: UnixSeconds?
  /// By which the gate's log is searched.
  public let trace: String?
  /// One sentence without secrets.
  public let detail: String

  /// - Parameters:
  ///   - kind: what is the matter.
  ///   - detail: one sentence without secrets.
  ///   - code: the gate's word.
  ///   - status: HTTP's.
  ///   - retryAfter: in seconds.
  ///   - gateTime: the gate's clock.
  ///   - trace: by which the gate's log is searched.
  public init(
    _ kind: Kind, _ detail: String, code: RefusalCode? = nil, status: Int? = nil, retryAfter: Double? = nil,
    gateTime: UnixSeconds? = nil, trace: String? = nil
  ) {
    self.kind = kind
    self.detail = detail
    self.code = code
    self.status = status
    self.retryAfter = retryAfter
    self.gateTime = gateTime
    self.trace = trace
  }

  /// As `detail`.
  public var description: String { detail }
}
