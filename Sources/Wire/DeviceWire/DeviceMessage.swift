/// The bytes that devices sign, that their MACs and digests are over: built from what the verifier knows, and never read
/// (docs/devices-messages.md, "Messages").
package import Bytes
internal import Crypto

package struct DeviceMessage: Equatable, Sendable {
  package let bytes: [UInt8]

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
  package var hash: Bytes32 { SHA256.hash(bytes.span) }

  private static func append(_ field: [UInt8], to bytes: inout [UInt8]) {
    let count = UInt32(field.count)
    for shift in [24, 16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: count >> shift)) }
    bytes += field
  }
}

extension DeviceMessage {
  /// Signed by each key that it names.
  package static func enroll(
    server: ServerID, keys: DeviceKeys, nonce: Bytes32, platform: DevicePlatform
  ) -> Self {
    Self(.enroll, [server.bytes] + keys.hashes + [nonce.array, Array(platform.rawValue.utf8)])
  }

  /// Signed by each key that it names, and under the pairing's secret.
  ///
  /// - Parameters:
  ///   - serverKeyHash: SHA-256 of the SPKI in the gate's certificate, as the phone has read it from the QR code.
  ///   - commit: SHA-256 of 32 random bytes that the phone reveals later.
  package static func pair(
    pairing: PairingID, serverKeyHash: Bytes32, keys: DeviceKeys, commit: Bytes32, name: DeviceName
  ) -> Self {
    Self(
      .pair,
      [pairing.bytes, serverKeyHash.array] + keys.hashes + [commit.array, Array(name.text.utf8)])
  }

  /// What `PairingDigits` are of.
  ///
  /// - Parameters:
  ///   - s: the gate's 32 random bytes.
  ///   - r: the phone's, which it had committed to before it saw `s`.
  package static func pairSAS(pairMessageHash: Bytes32, s: Bytes32, r: Bytes32) -> Self {
    Self(.pairSAS, [pairMessageHash.array, s.array, r.array])
  }

  /// Signed by the device key. Only a token has an audience.
  package static func deviceAuth(
    server: ServerID, device: DeviceID, nonce: Bytes32, for purpose: DeviceAuthPurpose
  ) -> Self {
    Self(
      .deviceAuth,
      [
        server.bytes, device.bytes, nonce.array, Array(purpose.word.rawValue.utf8),
        Array(purpose.audience.text.utf8),
      ])
  }

  /// Signed by the old device key and by each new one.
  package static func rotate(
    server: ServerID, device: DeviceID, newKeys: DeviceKeys, nonce: Bytes32
  ) -> Self {
    Self(.rotate, [server.bytes, device.bytes] + newKeys.hashes + [nonce.array])
  }

  /// Signed by the approval key.
  ///
  /// - Parameter summaryHash: SHA-256 of the bytes of the summary that the phone has shown.
  package static func approval(
    server: ServerID, request: ApprovalID, device: DeviceID, vote: Vote, summaryHash: Bytes32,
    issuedAt: UnixSeconds, expiresAt: UnixSeconds
  ) -> Self {
    Self(
      .approval,
      [
        server.bytes, request.bytes, device.bytes, [vote.decision.byte], summaryHash.array,
        Array(vote.matchCode.text.utf8), issuedAt.bytes, expiresAt.bytes,
      ])
  }

  /// Its hash is the `clientDataHash` that an App Attest key signs.
  package static func appAttest(server: ServerID, keys: DeviceKeys, nonce: Bytes32) -> Self {
    Self(.appAttest, [server.bytes] + keys.hashes + [nonce.array])
  }

  /// Its hash is the challenge of an Android key attestation.
  package static func androidKey(server: ServerID, nonce: Bytes32) -> Self {
    Self(.androidKey, [server.bytes, nonce.array])
  }

  /// Unpadded base64url of its hash is the nonce of a request to Play Integrity.
  package static func playNonce(server: ServerID, keys: DeviceKeys, nonce: Bytes32) -> Self {
    Self(.playNonce, [server.bytes] + keys.hashes + [nonce.array])
  }

  /// Signed by the device key.
  package static func otpIssue(
    server: ServerID, device: DeviceID, challenge: CodeChallengeID, nonce: Bytes32, signedAt: UnixSeconds,
    signalsHash: Bytes32
  ) -> Self {
    Self(
      .otpIssue,
      [
        server.bytes, device.bytes, challenge.bytes, nonce.array, signedAt.bytes, signalsHash.array,
      ])
  }

  /// Signed by the device key.
  package static func presence(
    server: ServerID, device: DeviceID, desktop: DesktopID, nonce: Bytes32, signedAt: UnixSeconds
  ) -> Self {
    Self(.presence, [server.bytes, device.bytes, desktop.bytes, nonce.array, signedAt.bytes])
  }

  /// Signed by the gate's token key.
  ///
  /// - Parameters:
  ///   - gate: which part of the audit it is the end of.
  ///   - sequence: of the last row, with `hash` its hash.
  package static func auditHead(
    server: ServerID, gate: String, sequence: UInt64, hash: Bytes32, at time: UnixSeconds
  ) -> Self {
    Self(
      .auditHead, [server.bytes, Array(gate.utf8), sequence.bigEndianBytes, hash.array, time.bytes])
  }
}

/// What a `device-auth` message is for; only a token is for somebody.
package enum DeviceAuthPurpose: Equatable, Sendable {
  case token(Audience)
  case upgrade
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
package struct Vote: Hashable, Sendable {
  package let decision: Decision
  package let matchCode: MatchCode

  /// Nil where a denial carries a code.
  package init?(_ decision: Decision, matchCode: MatchCode) {
    guard decision == .approve || matchCode.isNone else { return nil }
    self.decision = decision
    self.matchCode = matchCode
  }
}
