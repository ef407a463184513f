/// What a slot has, as far as this program can say.

package enum SlotContent: Equatable, Sendable {
  case free
  /// Its gate was killed, or died: see `CrashRecovery`.
  case kept(KeptSession)
  /// Its gate has written snapshot; without that it goes on as after a crash.
  case handedOver(KeptSession)
  /// Its session is over.
  case ending
  /// Nobody can say what it was: its leg is closed.
  case unreadable(KeptError)
}

extension SlotContent {
  /// - Parameter words: all of slot `index`.
  init(_ words: [UInt64], index: Int, knowing layouts: [SlotLayout] = SlotLayout.known) {
    let owner = SlotOwner(word: words[SlotGeometry.owner])
    do throws(KeptError) {
      switch owner.state {
      case .free: self = .free
      case .ending: self = .ending
      case .kept: self = .kept(try KeptSession(SlotImage(words, index: index), knowing: layouts))
      case .handedOver: self = .handedOver(try KeptSession(SlotImage(words, index: index), knowing: layouts))
      case nil: self = .unreadable(.unfit(.state))
      }
    } catch {
      self = .unreadable(error)
    }
  }
}
