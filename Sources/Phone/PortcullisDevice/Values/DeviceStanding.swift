/// How the gate sees the phone, and what it expects of it.
public import PortcullisProtocol

/// Where a phone stands with its gate.
public enum DeviceStanding: Equatable, Sendable {
  /// It belongs to none.
  case none
  /// An operator has to confirm it.
  case pending(level: Level?, userVerification: UserVerification?)
  /// It may act. `subject` is whose it is; all are nil until the gate has said them to this process.
  case active(level: Level?, userVerification: UserVerification?, subject: String?)
  /// An operator has revoked it: `forget()`, and pair anew.
  case revoked
  /// Its keys are gone: `forget()`, and pair anew.
  case keysLost
}

/// What vouches for keys, as the answer to an enrolment, an attestation or a rotation says it.
public struct DeviceAssurance: Equatable, Sendable {
  /// `pending` or `active`; nil where the answer does not say.
  public let status: String?
  /// What vouches for the keys.
  public let level: Level
  /// Who says that a person was there.
  public let userVerification: UserVerification

  init?(_ object: JSONTree.Object) {
    guard let level = object["level"]?.string.flatMap({ Level(rawValue: $0) }),
      let verification = object["uv"]?.string.flatMap({ UserVerification(rawValue: $0) })
    else { return nil }
    status = object["status"]?.string
    self.level = level
    userVerification = verification
  }
}

/// What a phone says of itself in a heartbeat.
public struct DeviceReport: Equatable, Sendable {
  /// Numbers with dots.
  public var appVersion: String?
  /// Whether the phone is rooted; signed where it is said.
  public var rooted: Bool?

  /// - Parameters:
  ///   - appVersion: numbers with dots.
  ///   - rooted: whether the phone is rooted.
  public init(appVersion: String? = nil, rooted: Bool? = nil) {
    self.appVersion = appVersion
    self.rooted = rooted
  }
}

/// What the gate expects of this phone.
public struct DevicePolicy: Equatable, Sendable {
  /// After how many seconds to attest again; nil: never.
  public let reattestAfter: Int64?
  /// Whether the phone has to be near a desktop.
  public let requiresPresence: Bool
  /// The oldest version of the app that may go on; nil: any.
  public let minimumAppVersion: String?
  /// Whether the phone gets codes now.
  public let allowsCodes: Bool
  /// In how many seconds to say something again.
  public let nextHeartbeat: Int64?
  /// The answer as it came: JSON.
  package let text: [UInt8]

  init?(_ body: [UInt8]) {
    guard let tree = try? JSONTree(parsing: body, depthLimit: 16), let policy = tree.object?["policy"]?.object
    else { return nil }
    reattestAfter = policy["reattest_after_s"]?.integer
    requiresPresence = policy["require_presence"]?.boolean ?? false
    minimumAppVersion = policy["min_app_version"]?.string
    allowsCodes = policy["otp_allowed"]?.boolean ?? true
    nextHeartbeat = policy["next_heartbeat_s"]?.integer
    text = body
  }
}
