/// Intermediates whose signature by the root was verified, so that it is verified once and not at every
/// registration.
internal import Bytes
internal import Crypto
internal import Synchronization
internal import X509

/// Only what the root has signed gets in, so a stranger can neither fill nor clear it. Everything else about
/// an intermediate, its validity above all, is judged anew at every use.
final class IntermediateMemory: Sendable {
  struct Entry: Sendable {
    /// SHA-256 of the DER.
    let digest: Bytes32
    let certificate: ParsedCertificate
    let issuer: CertificateIssuer
  }

  private let entries = Mutex<[Entry]>([])

  func entry(digest: Bytes32) -> Entry? {
    entries.withLock { entries in entries.first { $0.digest == digest } }
  }

  func remember(_ entry: Entry) {
    entries.withLock { entries in
      guard !entries.contains(where: { $0.digest == entry.digest }) else { return }
      if entries.count == Self.capacity { entries.removeFirst() }
      entries.append(entry)
    }
  }

  /// Apple has one intermediate; a few more leave room for its successor.
  private static let capacity = 4
}
