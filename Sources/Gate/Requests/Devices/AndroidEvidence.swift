/// Judges what Android phones bring to vouch for their keys, beside the loops (docs/devices-messages.md, "Evidence"):
/// tokens of Play
/// Integrity, and chains of key attestations.
internal import AndroidKey
package import Bytes
package import DeviceWire
package import PlayIntegrity
package import Registry
internal import Synchronization
package import Time

/// What evidence has to name, and to be made for.
package struct EvidenceClaim: Sendable {
  package let server: ServerID
  package let keys: DeviceKeys
  /// Spent.
  package let nonce: Bytes32

  package init(server: ServerID, keys: DeviceKeys, nonce: Bytes32) {
    self.server = server
    self.keys = keys
    self.nonce = nonce
  }

  /// What an App Attest key signs.
  package var appAttest: DeviceMessage { .appAttest(server: server, keys: keys, nonce: nonce) }
  package var playNonce: DeviceMessage { .playNonce(server: server, keys: keys, nonce: nonce) }
  package var androidKey: DeviceMessage { .androidKey(server: server, nonce: nonce) }
}

package final class AndroidEvidence: Sendable {
  /// A reload replaces them whole.
  package struct Settings: Sendable {
    package var apps: [AndroidApp] = []
    /// In the order in which they are tried.
    package var playKeys: [PlayKeys] = []
    package var playMinimum = PlayLevel.device
    /// Beside Google's, by the SHA-256 of their keys.
    package var roots: Set<Bytes32> = []
    package var revocationPath: String?
    package var revocationMaximumAge: Duration = .zero

    package init() {}
  }

  /// The rule that evidence breaks, as the log names it.
  package struct Rejection: Error, Equatable {
    package let step: String
    /// Where there are two.
    package var chain: Chain?
    /// Where nobody here could judge it, whatever it says.
    package var unjudged: UnjudgedEvidence?
  }

  /// The device key's, and the approval key's, by their names in a request.
  package enum Chain: String {
    case device = "x5c"
    case approval = "approval_x5c"
  }

  /// What is dear to make, with keys of OpenSSL's that only one thread may use at a time.
  private struct Verifiers: @unchecked Sendable {
    let tokens = PlayVerifier()
    let chains = AndroidKeyVerifier()
  }

  private let settings: Mutex<Settings>
  /// As many as have been in use at once.
  private let idle = Mutex<[Verifiers]>([])
  package let revocations = RevocationFile()

  package init(_ settings: Settings = Settings()) {
    self.settings = Mutex(settings)
  }

  package func reload(_ settings: Settings) {
    self.settings.withLock { $0 = settings }
  }

  package var current: Settings { settings.withLock { $0 } }

  // MARK: Evidence

  /// Takes some milliseconds.
  /// - Parameter form: of an Android phone.
  package func judge(
    _ form: EvidenceForm, for claim: EvidenceClaim, at now: UnixTime
  ) throws(Rejection) -> VerifiedEvidence {
    let settings = current
    guard !settings.apps.isEmpty else { throw Rejection(step: "no_app") }
    let verifiers = idle.withLock { $0.popLast() } ?? Verifiers()
    defer { idle.withLock { $0.append(verifiers) } }
    switch form {
    case .playIntegrity(let token):
      let trust = try judge(token, claim, settings, now, by: verifiers.tokens)
      return .playIntegrity(trust)
    case .androidKey(let chain, let approvalChain):
      return .androidKey(try judge(chain, approvalChain, claim, settings, now, by: verifiers.chains))
    case .attestation, .assertion: throw Rejection(step: "platform")
    }
  }

  private func judge(
    _ token: [UInt8], _ claim: EvidenceClaim, _ settings: Settings, _ now: UnixTime, by verifier: PlayVerifier
  ) throws(Rejection) -> PlayTrust {
    guard !settings.playKeys.isEmpty else { throw Rejection(step: "no_play_keys") }
    do throws(PlayRejection) {
      let verdict = try verifier.verify(
        token.span, nonce: claim.playNonce.hash, keys: settings.playKeys, apps: settings.apps, now: now,
        maximumAge: PlayVerifier.maximumAge, required: settings.playMinimum)
      return verdict.level >= .strong ? .strong : .device
    } catch {
      let isStandard = error == .envelopeParts && PlayVerifier.isOfStandardRequest(token.span)
      throw Rejection(step: error.rawValue, unjudged: isStandard ? .standardRequest : nil)
    }
  }

  private func judge(
    _ chain: [[UInt8]], _ approvalChain: [[UInt8]]?, _ claim: EvidenceClaim, _ settings: Settings,
    _ now: UnixTime, by verifier: AndroidKeyVerifier
  ) throws(Rejection) -> AndroidKeyEvidence {
    let revoked = revocations.reading
    var policy = AndroidKeyPolicy(
      roots: AndroidRoots.google.union(settings.roots), apps: settings.apps, now: UnixSeconds(now),
      revocation: revoked?.list, revocationAge: revoked?.age(at: now),
      revocationMaximumAge: settings.revocationMaximumAge.components.seconds)
    var approvalKey: P256Point?
    if approvalChain != nil {
      guard let key = claim.keys.approval else { throw Rejection(step: "approval_key") }
      approvalKey = key.point
    }
    var judged = Chain.device
    do throws(AndroidKeyRejection) {
      let challenge = claim.androidKey.hash
      var serials = try verifier.verify(
        chain: chain, challenge: challenge, key: claim.keys.device.point, policy: policy
      ).serials
      if let approvalChain, let approvalKey {
        judged = .approval
        // It has no other use than a person's word.
        policy.requiresUserVerification = true
        serials += try verifier.verify(
          chain: approvalChain, challenge: challenge, key: approvalKey, policy: policy
        ).serials
      }
      return AndroidKeyEvidence(
        attestsApprovalKey: approvalKey != nil, serials: Set(serials.compactMap(\.stored)))
    } catch {
      throw Rejection(step: error.rawValue, chain: approvalChain == nil ? nil : judged)
    }
  }
}

extension CertificateSerial {
  package var stored: AndroidSerial? {
    let digits = hex.utf8.count.isMultiple(of: 2) ? hex : "0" + hex
    return Hex.decode(Array(digits.utf8).span).map { AndroidSerial($0) }
  }
}
