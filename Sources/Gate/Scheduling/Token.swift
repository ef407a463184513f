/// Names what an event is about: a connection, a session's leg to the game, a listener, or the mailbox.

/// One 64-bit number, as epoll and the deadline wheel keep it. A slot is used again, its generation is not: a stale token
/// finds nothing.
public struct Token: Hashable, Sendable {
  public enum Kind: UInt64, CaseIterable, Sendable {
    case connection = 0
    case session = 1
    /// The slot is the listener's index.
    case listener = 2
    case mailbox = 3
  }

  public let rawValue: UInt64

  @inlinable
  public init(rawValue: UInt64) {
    self.rawValue = rawValue
  }

  @inlinable
  public init(_ kind: Kind, slot: Int, generation: UInt32) {
    rawValue = UInt64(generation) << 32 | UInt64(slot) << Self.kindBits | kind.rawValue
  }

  @inlinable
  public static func listener(_ index: Int) -> Token { Token(.listener, slot: index, generation: 0) }
  @inlinable
  public static var mailbox: Token { Token(.mailbox, slot: 0, generation: 0) }

  @inlinable
  public var kind: Kind {
    switch rawValue & Self.kindMask {
    case 0: .connection
    case 1: .session
    case 2: .listener
    default: .mailbox
    }
  }
  @inlinable public var slot: Int { Int((rawValue & 0xFFFF_FFFF) >> Self.kindBits) }
  @inlinable public var generation: UInt32 { UInt32(rawValue >> 32) }
  /// Slot and generation without the kind, for names that people read.
  @inlinable public var number: UInt64 { rawValue >> Self.kindBits }

  @inlinable
  public init(_ kind: Kind, number: UInt64) {
    rawValue = number << Self.kindBits | kind.rawValue
  }

  @inlinable static var kindBits: UInt64 { 2 }
  @inlinable static var kindMask: UInt64 { 3 }
}
