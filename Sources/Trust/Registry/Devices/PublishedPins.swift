/// Which of the server's keys devices were told of, and which key may therefore be in service: a phone that knows pins
/// turns away from any other, and nobody could tell it better.
internal import Bytes
package import Crypto
internal import PortcullisProtocol

package enum PublishedPins {
  /// A key that no paired device was told of.
  package struct ForeignKey: Error, Equatable, Sendable {
    package let pin: PublicKeyPin
    package let published: [PublicKeyPin]
  }

  /// The rule: with paired devices the key in service is one that was published, unless the operator insists.
  static func judge(
    _ settings: RegistrySettings, published: [PublicKeyPin], hasDevices: Bool
  ) throws(ForeignKey) {
    guard let pin = settings.pins.first, hasDevices, !settings.pinsAreForced else { return }
    guard published.contains(pin) else { throw ForeignKey(pin: pin, published: published) }
  }

  /// How the pins that are to be named stand to those that were.
  package enum Standing: Equatable, Sendable {
    case published
    /// They may be named, and are to be kept before anybody hears of them.
    case news
    case foreign(ForeignKey)
  }

  /// Changes nothing.
  package static func look(
    at settings: RegistrySettings, in store: RegistryDatabase
  ) throws(CallFailure) -> Standing {
    let published = try all(in: store)
    let active = try store.devices(of: nil, in: .active, after: nil, limit: 1)
    do throws(ForeignKey) {
      try judge(settings, published: published, hasDevices: !active.isEmpty)
    } catch {
      return .foreign(error)
    }
    return settings.pins == published ? .published : .news
  }

  /// Before the key is in service: what answers name from now on is kept, or the key is refused and nothing changes.
  static func take(
    _ settings: RegistrySettings, into store: RegistryDatabase
  ) throws(CallFailure) -> ForeignKey? {
    switch try look(at: settings, in: store) {
    case .published: return nil
    case .foreign(let key): return key
    case .news:
      try store.setValue(StoreValue.pins, settings.pins.flatMap(\.hash.array))
      return nil
    }
  }

  private static func all(in store: RegistryDatabase) throws(CallFailure) -> [PublicKeyPin] {
    let bytes = try store.value(StoreValue.pins) ?? []
    return stride(from: 0, to: bytes.count, by: 32).compactMap { start in
      Bytes32(Array(bytes[start..<min(start + 32, bytes.count)])).map { PublicKeyPin($0) }
    }
  }
}

/// A start or a reload with other pins, before anybody hears of them.
package struct TakePins: RegistryCall {
  private let settings: RegistrySettings

  package init(_ settings: RegistrySettings) {
    self.settings = settings
  }

  /// The step of a refusal over a key that no paired device was told of.
  package static let foreignKey = "foreign_key"

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    let foreign = try PublishedPins.take(settings, into: transaction.store)
    if foreign != nil { throw .refused(.badRequest, Self.foreignKey) }
    return .reply(.answered(Array("{}".utf8)))
  }
}

extension StoreValue {
  /// The pins that answers name, 32 bytes each, the one in service first.
  static let pins = "pins"
}
