/// The messages of devices as the gate makes them: of keys that are on the curve, and of its own bytes.
package import Bytes
internal import Crypto

extension DeviceKeys {
  /// As messages name them.
  package var hashes: KeyHashes {
    KeyHashes(device: Octets32(device.hash), approval: approval.map { Octets32($0.hash) })
  }
}

extension DeviceMessage {
  /// SHA-256.
  package var hash: Bytes32 { SHA256.hash(bytes.span) }

  package static func enroll(
    server: ServerID, keys: DeviceKeys, nonce: Bytes32, platform: DevicePlatform
  ) -> Self {
    .enroll(server: server, keys: keys.hashes, nonce: Octets32(nonce), platform: platform)
  }

  package static func pair(
    pairing: PairingID, serverKeyHash: Bytes32, keys: DeviceKeys, commit: Bytes32, name: DeviceName
  ) -> Self {
    .pair(
      pairing: pairing, serverKeyHash: Octets32(serverKeyHash), keys: keys.hashes, commit: Octets32(commit),
      name: name)
  }

  package static func pairSAS(pairMessageHash: Bytes32, s: Bytes32, r: Bytes32) -> Self {
    .pairSAS(pairMessageHash: Octets32(pairMessageHash), s: Octets32(s), r: Octets32(r))
  }

  package static func deviceAuth(
    server: ServerID, device: DeviceID, nonce: Bytes32, for purpose: DeviceAuthPurpose
  ) -> Self {
    .deviceAuth(server: server, device: device, nonce: Octets32(nonce), for: purpose)
  }

  package static func rotate(
    server: ServerID, device: DeviceID, newKeys: DeviceKeys, nonce: Bytes32
  ) -> Self {
    .rotate(server: server, device: device, newKeys: newKeys.hashes, nonce: Octets32(nonce))
  }

  package static func approval(
    server: ServerID, request: ApprovalID, device: DeviceID, vote: Vote, summaryHash: Bytes32,
    issuedAt: UnixSeconds, expiresAt: UnixSeconds
  ) -> Self {
    .approval(
      server: server, request: request, device: device, vote: vote, summaryHash: Octets32(summaryHash),
      issuedAt: issuedAt, expiresAt: expiresAt)
  }

  package static func appAttest(server: ServerID, keys: DeviceKeys, nonce: Bytes32) -> Self {
    .appAttest(server: server, keys: keys.hashes, nonce: Octets32(nonce))
  }

  package static func androidKey(server: ServerID, nonce: Bytes32) -> Self {
    .androidKey(server: server, nonce: Octets32(nonce))
  }

  package static func playNonce(server: ServerID, keys: DeviceKeys, nonce: Bytes32) -> Self {
    .playNonce(server: server, keys: keys.hashes, nonce: Octets32(nonce))
  }

  package static func otpIssue(
    server: ServerID, device: DeviceID, challenge: CodeChallengeID, nonce: Bytes32, signedAt: UnixSeconds,
    signalsHash: Bytes32
  ) -> Self {
    .otpIssue(
      server: server, device: device, challenge: challenge, nonce: Octets32(nonce), signedAt: signedAt,
      signalsHash: Octets32(signalsHash))
  }

  package static func presence(
    server: ServerID, device: DeviceID, desktop: DesktopID, nonce: Bytes32, signedAt: UnixSeconds
  ) -> Self {
    .presence(
      server: server, device: device, desktop: desktop, nonce: Octets32(nonce), signedAt: signedAt)
  }

  package static func auditHead(
    server: ServerID, gate: String, sequence: UInt64, hash: Bytes32, at time: UnixSeconds
  ) -> Self {
    .auditHead(server: server, gate: gate, sequence: sequence, hash: Octets32(hash), at: time)
  }
}
