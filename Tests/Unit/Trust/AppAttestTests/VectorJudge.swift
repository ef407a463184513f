/// Feeds one vector to the verifiers, as a command that reads such files would.
import Foundation
import Identity
import Synchronization

@testable import AppAttest
@testable import Bytes
@testable import Crypto
@testable import System

enum VectorJudge {
  private static let verifiers = Mutex<[String: AttestationVerifier]>([:])

  static func bytes(_ text: String?) -> [UInt8]? { text.flatMap { Base64.decode(Array($0.utf8).span) } }

  static func judge(_ vector: VectorCase) -> Verdict {
    switch vector.kind {
    case "attestation": judgeAttestation(vector, bytes(vector.attestation_b64) ?? [])
    case "assertion": judgeAssertion(vector, bytes(vector.assertion_b64) ?? [])
    default: fatalError("\(vector.name): unknown kind")
    }
  }

  static func judge(_ vector: VectorCase, object: [UInt8]) -> Verdict {
    vector.kind == "attestation" ? judgeAttestation(vector, object) : judgeAssertion(vector, object)
  }

  private static func clientDataHash(_ vector: VectorCase) -> [UInt8] {
    if let hash = bytes(vector.client_data_hash_b64) { return hash }
    guard let data = bytes(vector.challenge_b64 ?? vector.client_data_b64) else {
      fatalError("\(vector.name): no client data")
    }
    return SHA256.hash(data.span).array
  }

  private static func policy(_ vector: VectorCase) -> AttestationPolicy {
    guard let app = AppID(teamID: vector.team_id, bundleID: vector.bundle_id) else {
      fatalError("\(vector.name): not an app id")
    }
    let environments = (vector.environment?.names ?? []).compactMap(AttestEnvironment.init(rawValue:))
    let launch = LaunchPolicy(
      allowedCategories: vector.launch_policy?.categories.map(Set.init),
      allowedBundleVersions: vector.launch_policy?.bundle_versions,
      requiresLaunchInformation: vector.launch_policy?.require ?? false)
    return AttestationPolicy(apps: [app], environments: Set(environments), launch: launch)
  }

  static func verifier(root name: String?) -> AttestationVerifier {
    verifiers.withLock { verifiers in
      let name = name ?? "apple"
      if let verifier = verifiers[name] { return verifier }
      let root: AttestationRoot
      if name == "apple" {
        root = .apple()
      } else {
        guard let pem = VectorFiles.contents(name), let parsed = try? AttestationRoot(pem: pem.span) else {
          fatalError("no root certificate \(name)")
        }
        root = parsed
      }
      let verifier = AttestationVerifier(root: root)
      verifiers[name] = verifier
      return verifier
    }
  }

  private static func judgeAttestation(_ vector: VectorCase, _ object: [UInt8]) -> Verdict {
    guard let time = vector.verify_at.flatMap(UnixTime.init(timestamp:)) else {
      fatalError("\(vector.name): no time")
    }
    do throws(AttestationError) {
      let keyID = try KeyIdentifier(attestationInput: Array((vector.key_id_b64 ?? "").utf8).span)
      _ = try verifier(root: vector.root).verify(
        object.span, keyID: keyID, verbatimClientDataHash: clientDataHash(vector).span, at: time,
        policy: policy(vector))
      return Verdict(step: nil)
    } catch {
      return Verdict(step: error.step.rawValue)
    }
  }

  private static func judgeAssertion(_ vector: VectorCase, _ object: [UInt8]) -> Verdict {
    guard let x963 = bytes(vector.public_key_x963_b64), let point = P256Point(x963: x963.span)
    else { fatalError("\(vector.name): no public key") }
    let policy = policy(vector)
    let key = RegisteredKey(
      publicKey: point, appID: policy.apps.first, environment: nil,
      storedCounter: vector.previous_counter ?? 0)
    do throws(AssertionError) {
      _ = try AssertionVerifier().verify(
        object.span, verbatimClientDataHash: clientDataHash(vector).span, by: key, policy: policy)
      return Verdict(step: nil)
    } catch {
      return Verdict(step: error.step.rawValue)
    }
  }
}
