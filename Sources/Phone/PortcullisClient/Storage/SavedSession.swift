/// What an app has to know to come back to its session after a start, as it is saved. What was typed is never part of it.

/// Version 1: `{"v":1,"id":…,"received":…,"handled":…,"next":…}`.
extension RememberedSession {
  static let version = 1

  /// The text that is saved.
  package var bytes: [UInt8] {
    var members = [
      ("v", number(Self.version)), ("id", JSONText.quoted(id)), ("received", number(received)),
      ("handled", number(handled)),
    ]
    if let next { members.append(("next", JSONText.quoted(next))) }
    return AppText.object(members)
  }

  /// - Throws: `RecordError`: broken, or of a later version.
  package init(saved bytes: [UInt8]) throws(RecordError) {
    guard let object = JSONText(object: bytes), let version = object.integer("v") else { throw .broken }
    guard version <= Self.version else { throw .later }
    guard let id = object.string("id"), let received = object.integer("received"),
      let handled = object.integer("handled"), received >= 0, handled >= 0
    else { throw .broken }
    self.init(id: id, received: received, handled: handled, next: object.string("next"))
  }

  private func number(_ value: Int) -> [UInt8] { Array(String(value).utf8) }
}

/// Why what was saved says nothing.
package enum RecordError: Error, Equatable {
  case broken
  /// By a later version of the app, which may be installed again: left alone.
  case later
}
