/// What a descriptor is called in the service manager's store, by which it is known again (sd_notify(3), `FDNAME=`).

/// At most four characters, as all names together stand in one variable of the next process, and execve(2) takes none
/// above 128 KiB.
package enum StoredName: Hashable, Sendable, CustomStringConvertible {
  /// The memory in which each kept session has a slot.
  case slots
  /// What one process hands over to the next.
  case over
  /// One that listens; below `limit`.
  case listener(Int)
  /// A session's connection to the game, by its slot; below `legLimit`.
  case leg(slot: Int)

  /// Three digits to the base 36.
  package static let limit = 36 * 36 * 36
  /// Below the number that would read `slot`; as many names fit into one variable.
  package static let legLimit = 16_384

  package var description: String {
    switch self {
    case .slots: "slot"
    case .over: "over"
    case .listener(let index): "l" + String(index, radix: 36)
    case .leg(let slot):
      "s" + String(repeating: "0", count: max(0, 3 - String(slot, radix: 36).count))
        + String(slot, radix: 36)
    }
  }

  /// Nil for everything that `description` does not say.
  package init?(_ text: some StringProtocol) {
    switch text {
    case "slot": self = .slots
    case "over": self = .over
    default:
      guard let number = Int(text.dropFirst(), radix: 36), number >= 0 else { return nil }
      switch text.first {
      case "l" where number < Self.limit: self = .listener(number)
      case "s" where number < Self.legLimit: self = .leg(slot: number)
      default: return nil
      }
      // Capital letters, signs and zeros in front are other names for the same number.
      if description != text { return nil }
    }
  }
}
