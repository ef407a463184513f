/// Where each session that can be resumed lives, by the hash of its id, over all loops.
///
/// Only the loop that a session lives on changes its entries, and it changes them after whatever else it has to say: who
/// finds a new place here finds the session there, or a message on its way to there in front of its own. The loop that has
/// handed one over changes only what still names itself, as the other may have gone on by then.
package import Bytes
internal import Crypto
package import SessionWire
internal import Synchronization
package import Time

/// SHA-256 of an id's 16 bytes: knowing it resumes nothing.
package struct SessionIDHash: Hashable, Sendable {
  package let digest: Bytes32

  package init(digest: Bytes32) {
    self.digest = digest
  }

  package init(of id: SessionID) {
    digest = SHA256.hash(id.bytes.span)
  }

  fileprivate var part: Int {
    Int(truncatingIfNeeded: digest.leadingWords.0) & (SessionDirectory.partCount - 1)
  }
}

package final class SessionDirectory: Sendable {
  private final class Part: Sendable {
    let places = Mutex<[SessionIDHash: SessionReference]>([:])
  }

  fileprivate static let partCount = 64
  private let parts = (0..<partCount).map { _ in Part() }

  package init() {}

  package func find(_ id: SessionIDHash) -> SessionReference? {
    parts[id.part].places.withLock { $0[id] }
  }

  package func place(_ id: SessionIDHash, at session: SessionReference) {
    parts[id.part].places.withLock { $0[id] = session }
  }

  /// A session has left `place` for another loop, unless that has said already where it is.
  package func move(_ id: SessionIDHash, from place: SessionReference, to next: SessionReference) {
    parts[id.part].places.withLock { if $0[id] == place { $0[id] = next } }
  }

  package func remove(_ id: SessionIDHash) {
    parts[id.part].places.withLock { $0[id] = nil }
  }

  /// Ids by which something can be resumed.
  package var count: Int { parts.reduce(0) { $0 + $1.places.withLock { $0.count } } }
}

extension SessionID {
  package init(_ entropy: any Entropy) {
    var bytes = InlineArray<16, UInt8>(repeating: 0)
    var span = bytes.mutableSpan
    entropy.fill(&span)
    self.init(bytes)
  }
}
