/// Where each session that can be resumed lives, by the hash of its id, over all loops.
///
/// Only the loop that a session lives on changes its entries, and it changes them after whatever else it has to say: who
/// finds a new place here finds the session there, or a message on its way to there in front of its own.
internal import Bytes
internal import Crypto
internal import Synchronization
internal import System

/// The secret by which a session is resumed: 128 random bits. The gate itself keeps its hash alone.
struct SessionID: Equatable, Sendable {
  /// 22 characters of base64url.
  let text: String
  let hash: SessionIDHash

  init(_ entropy: any Entropy) {
    let bytes = entropy.bytes(Self.byteCount)
    text = Base64.encodeURL(bytes.span)
    hash = SessionIDHash(of: bytes.span)
  }

  static let byteCount = 16
}

/// SHA-256 of an id's 16 bytes: knowing it resumes nothing.
struct SessionIDHash: Hashable, Sendable {
  private let digest: Bytes32

  init(of id: Span<UInt8>) {
    digest = SHA256.hash(id)
  }

  fileprivate var part: Int { Int(truncatingIfNeeded: digest.leadingWords.0) & (SessionDirectory.partCount - 1) }
}

final class SessionDirectory: Sendable {
  private final class Part: Sendable {
    let places = Mutex<[SessionIDHash: SessionReference]>([:])
  }

  fileprivate static let partCount = 64
  private let parts = (0..<partCount).map { _ in Part() }

  func find(_ id: SessionIDHash) -> SessionReference? {
    parts[id.part].places.withLock { $0[id] }
  }

  func place(_ id: SessionIDHash, at session: SessionReference) {
    parts[id.part].places.withLock { $0[id] = session }
  }

  func remove(_ id: SessionIDHash) {
    parts[id.part].places.withLock { $0[id] = nil }
  }
}
