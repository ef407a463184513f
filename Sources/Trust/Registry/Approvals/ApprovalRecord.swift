/// A request for an approval, its votes, and the lease that it gave, as the store keeps them (docs/approvals.md,
/// "Requests").
package import ApprovalPolicy
package import Bytes
package import DeviceWire

package struct ApprovalRecord: Equatable, Sendable {
  /// Pending, and from there once to one of the others.
  package enum State: Int, CaseIterable, Sendable {
    case pending = 0
    case approved = 1
    case denied = 2
    case reported = 3
    case expired = 4
    case cancelled = 5

    package var word: String {
      switch self {
      case .pending: "pending"
      case .approved: "approved"
      case .denied: "denied"
      case .reported: "reported"
      case .expired: "expired"
      case .cancelled: "cancelled"
      }
    }

    package init?(word: String) {
      guard let state = Self.allCases.first(where: { $0.word == word }) else { return nil }
      self = state
    }
  }

  package let id: ApprovalID
  /// Nil where a program of the host asked.
  package let service: ServiceID?
  /// The user of the host who asked, if it was one.
  package let user: UInt32?
  package let requester: String
  package let subject: Subject?
  /// The summary's canonical bytes; empty when only its remains are kept.
  package let summary: [UInt8]
  package let terms: ApprovalTerms
  package let matchCode: MatchCode
  package let createdAt: UnixSeconds
  package let expiresAt: UnixSeconds
  package let idempotency: Idempotency?
  package var state = State.pending
  package var endedAt: UnixSeconds?
  /// Whoever could have approved it is no more.
  package var lacksDevices = false
  /// The operator who approved or denied.
  package var operatorUser: UInt32?
  /// What is kept of the summary some time after the end.
  package var remains: Remains?

  package struct Remains: Equatable, Sendable {
    package let summaryHash: Bytes32
    /// Nil where the summary could not be read.
    package let operation: String?
  }

  /// A service that asks again by the same key asks for the same.
  package struct Idempotency: Equatable, Sendable {
    package let key: String
    /// SHA-256 of what was asked for.
    package let asked: Bytes32
  }
}

/// What one device has said.
package struct VoteRecord: Equatable, Sendable {
  package let device: DeviceID
  /// Whose device it was then.
  package let subject: Subject
  /// Its approval key.
  package let key: P256Point
  package let vote: Vote
  package let issuedAt: UnixSeconds
  package let level: Level
  package let verification: UserVerification
  package let signature: DeviceSignature
}

package struct LeaseRecord: Equatable, Sendable {
  package let id: LeaseID
  package let approval: ApprovalID
  package let expiresAt: UnixSeconds
  package var usesLeft: Int
  package var endedAt: UnixSeconds?
}

/// A requester whom somebody has reported, or a service that was reported again and again.
package struct BarRecord: Equatable, Sendable {
  /// Nil for programs of the host.
  package let service: ServiceID?
  /// Nil where the service may not ask for anybody.
  package let requester: String?
  /// Whoever reported; others may still be asked.
  package let subject: Subject
  package let at: UnixSeconds
}
