/// The bytes that devices sign, that their MACs and digests are over: built from what both sides know, and never read
/// (docs/devices-messages.md, "Messages").

/// What is signed. The gate builds the same bytes from its own record.
public struct DeviceMessage: Equatable, Sendable {
  /// As they are signed.
  public let bytes: [UInt8]

  /// What a message is for, so that none passes for one of another kind.
  package enum Domain: String, CaseIterable, Sendable {
    case enroll, pair
    case pairSAS = "pair-sas"
    case deviceAuth = "device-auth"
    case rotate, approval
    case appAttest = "app-attest"
    case androidKey = "android-key"
    case playNonce = "play-nonce"
    case otpIssue = "otp-issue"
    case presence
    /// Signed by the gate itself, over the end of its audit.
    case auditHead = "audit-head"

    package var text: String { "portcullis/\(rawValue)/v1" }

    package init?(text: String) {
      guard let domain = Self.allCases.first(where: { $0.text.isSameText(as: text) }) else { return nil }
      self = domain
    }
  }

  /// The domain and each field, all behind their length in four bytes, the highest first: two lists of fields that
  /// differ never make the same bytes.
  package init(_ domain: Domain, _ fields: [[UInt8]]) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(fields.reduce(32) { $0 + 4 + $1.count })
    Self.append(Array(domain.text.utf8), to: &bytes)
    for field in fields { Self.append(field, to: &bytes) }
    self.bytes = bytes
  }

  /// SHA-256.
  public var digest: Octets32 { SHA2.hash(bytes) }

  private static func append(_ field: [UInt8], to bytes: inout [UInt8]) {
    let count = UInt32(field.count)
    for shift in [24, 16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: count >> shift)) }
    bytes += field
  }
}

/// What messages name a device's keys by.
public struct KeyHashes: Hashable, Sendable {
  /// SHA-256 of the device key's `SubjectPublicKeyInfo`.
  public let device: Octets32
  /// Of the approval key's; nil where there is none.
  public let approval: Octets32?

  /// - Parameters:
  ///   - device: of the device key.
  ///   - approval: of the approval key.
  public init(device: Octets32, approval: Octets32?) {
    self.device = device
    self.approval = approval
  }

  /// The second one is empty where there is no approval key.
  fileprivate var fields: [[UInt8]] { [device.bytes, approval?.bytes ?? []] }
}

extension DeviceMessage {
  /// Signed by each key that it names.
  public static func enroll(
    server: ServerID, keys: KeyHashes, nonce: Octets32, platform: DevicePlatform
  ) -> Self {
    Self(.enroll, [server.bytes] + keys.fields + [nonce.bytes, Array(platform.rawValue.utf8)])
  }

  /// Signed by each key that it names, and under the pairing's secret.
  ///
  /// - Parameters:
  ///   - serverKeyHash: SHA-256 of the SPKI in the gate's certificate, as the phone has read it from the QR code.
  ///   - commit: SHA-256 of 32 random bytes that the phone reveals later.
  public static func pair(
    pairing: PairingID, serverKeyHash: Octets32, keys: KeyHashes, commit: Octets32, name: DeviceName
  ) -> Self {
    Self(
      .pair, [pairing.bytes, serverKeyHash.bytes] + keys.fields + [commit.bytes, Array(name.text.utf8)])
  }

  /// What `PairingDigits` are of.
  ///
  /// - Parameters:
  ///   - pairMessageHash: SHA-256 of the `pair` message.
  ///   - s: the gate's 32 random bytes.
  ///   - r: the phone's, which it had committed to before it saw `s`.
  public static func pairSAS(pairMessageHash: Octets32, s: Octets32, r: Octets32) -> Self {
    Self(.pairSAS, [pairMessageHash.bytes, s.bytes, r.bytes])
  }

  /// Signed by the device key. Only a token has an audience.
  public static func deviceAuth(
    server: ServerID, device: DeviceID, nonce: Octets32, for purpose: DeviceAuthPurpose
  ) -> Self {
    Self(
      .deviceAuth,
      [
        server.bytes, device.bytes, nonce.bytes, Array(purpose.word.rawValue.utf8),
        Array(purpose.audience.text.utf8),
      ])
  }

  /// Signed by the old device key and by each new one.
  public static func rotate(
    server: ServerID, device: DeviceID, newKeys: KeyHashes, nonce: Octets32
  ) -> Self {
    Self(.rotate, [server.bytes, device.bytes] + newKeys.fields + [nonce.bytes])
  }

  /// Signed by the approval key.
  ///
  /// - Parameter summaryHash: SHA-256 of the bytes of the summary that the phone has shown.
  public static func approval(
    server: ServerID, request: ApprovalID, device: DeviceID, vote: Vote, summaryHash: Octets32,
    issuedAt: UnixSeconds, expiresAt: UnixSeconds
  ) -> Self {
    Self(
      .approval,
      [
        server.bytes, request.bytes, device.bytes, [vote.decision.byte], summaryHash.bytes,
        Array(vote.matchCode.text.utf8), issuedAt.bytes, expiresAt.bytes,
      ])
  }

  /// Its hash is the `clientDataHash` that an App Attest key signs.
  public static func appAttest(server: ServerID, keys: KeyHashes, nonce: Octets32) -> Self {
    Self(.appAttest, [server.bytes] + keys.fields + [nonce.bytes])
  }

  /// Its hash is the challenge of an Android key attestation.
  public static func androidKey(server: ServerID, nonce: Octets32) -> Self {
    Self(.androidKey, [server.bytes, nonce.bytes])
  }

  /// Unpadded base64url of its hash is the nonce of a request to Play Integrity.
  public static func playNonce(server: ServerID, keys: KeyHashes, nonce: Octets32) -> Self {
    Self(.playNonce, [server.bytes] + keys.fields + [nonce.bytes])
  }

  /// Signed by the device key.
  public static func otpIssue(
    server: ServerID, device: DeviceID, challenge: CodeChallengeID, nonce: Octets32, signedAt: UnixSeconds,
    signalsHash: Octets32
  ) -> Self {
    Self(
      .otpIssue,
      [server.bytes, device.bytes, challenge.bytes, nonce.bytes, signedAt.bytes, signalsHash.bytes])
  }

  /// Signed by the device key.
  public static func presence(
    server: ServerID, device: DeviceID, desktop: DesktopID, nonce: Octets32, signedAt: UnixSeconds
  ) -> Self {
    Self(.presence, [server.bytes, device.bytes, desktop.bytes, nonce.bytes, signedAt.bytes])
  }

  /// Signed by the gate's token key.
  ///
  /// - Parameters:
  ///   - gate: which part of the audit it is the end of.
  ///   - sequence: of the last row, with `hash` its hash.
  package static func auditHead(
    server: ServerID, gate: String, sequence: UInt64, hash: Octets32, at time: UnixSeconds
  ) -> Self {
    Self(
      .auditHead, [server.bytes, Array(gate.utf8), sequence.bigEndianBytes, hash.bytes, time.bytes])
  }
}

/// What a `device-auth` message is for; only a token is for somebody.
public enum DeviceAuthPurpose: Equatable, Sendable {
  /// A token for the gate, or for somebody who takes its tokens.
  case token(Audience)
  /// To come in and play.
  case upgrade
  /// To say how the phone is.
  case heartbeat

  /// Nil where another purpose than `token` has an audience.
  package init?(_ word: AuthPurpose, audience: Audience) {
    switch word {
    case .token: self = .token(audience)
    case .upgrade where audience.isGate: self = .upgrade
    case .heartbeat where audience.isGate: self = .heartbeat
    case .upgrade, .heartbeat: return nil
    }
  }

  var word: AuthPurpose {
    switch self {
    case .token: .token
    case .upgrade: .upgrade
    case .heartbeat: .heartbeat
    }
  }

  var audience: Audience {
    if case .token(let audience) = self { audience } else { .gate }
  }
}

/// A decision with the code that belongs to it.
public struct Vote: Hashable, Sendable {
  /// What is said.
  public let decision: Decision
  /// None where none was issued.
  public let matchCode: MatchCode

  /// Nil where a denial carries a code.
  public init?(_ decision: Decision, matchCode: MatchCode) {
    guard decision == .approve || matchCode.isNone else { return nil }
    self.decision = decision
    self.matchCode = matchCode
  }
}
