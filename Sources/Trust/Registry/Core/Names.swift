/// Names that the registry gives and is given, beside those that stand in signed messages.
package import DeviceWire

/// The service's own, which its name may be given to another after it.
package typealias ServiceID = Identifier<ServiceKind>

package enum ServiceKind {}

/// The name that a service gives to a person: 1 to 128 bytes without refused characters, compared as bytes.
package struct Subject: Hashable, Sendable, CustomStringConvertible {
  package let name: String

  package init?(_ name: String) {
    guard (1...128).contains(name.utf8.count), ShownText.isClean(name) else { return nil }
    self.name = name
  }

  /// As a store has it, or as an operator names one that is there: taken in by the rules of its time.
  package init?(stored name: String) {
    guard (1...128).contains(name.utf8.count), ShownText.isReadable(name) else { return nil }
    self.name = name
  }

  package var description: String { name }

  package static func == (left: Self, right: Self) -> Bool { left.name.isSameText(as: right.name) }

  package func hash(into hasher: inout Hasher) { hasher.combine(Array(name.utf8)) }
}
