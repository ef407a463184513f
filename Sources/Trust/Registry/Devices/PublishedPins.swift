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

  /// Before the key is in service: what answers name from now on is kept, or the key is refused and nothing changes.
  package static func take(
    _ settings: RegistrySettings, into store: any RegistryStore
  ) throws(StoreFailure) -> ForeignKey? {
    let published = try all(in: store)
    let active = try store.devices(of: nil, in: .active, after: nil, limit: 1)
    do throws(ForeignKey) {
      try judge(settings, published: published, hasDevices: !active.isEmpty)
    } catch {
      return error
    }
    if settings.pins != published {
      try store.setValue(StoreValue.pins, settings.pins.flatMap(\.hash.array))
    }
    return nil
  }

  private static func all(in store: any RegistryStore) throws(StoreFailure) -> [PublicKeyPin] {
    let bytes = try store.value(StoreValue.pins) ?? []
    return stride(from: 0, to: bytes.count, by: 32).compactMap { start in
      Bytes32(Array(bytes[start..<min(start + 32, bytes.count)])).map { PublicKeyPin($0) }
    }
  }
}

/// A reload with another key, before it is in service.
package struct TakePins: RegistryCall {
  private let settings: RegistrySettings

  package init(_ settings: RegistrySettings) {
    self.settings = settings
  }

  /// The step of a refusal over a key that no paired device was told of.
  package static let foreignKey = "foreign_key"

  package func run(_ desk: inout Desk) throws(CallFailure) -> Outcome {
    let foreign = try desk.storing { (store) throws(StoreFailure) in
      try PublishedPins.take(settings, into: store)
    }
    if foreign != nil { throw .refused(.badRequest, Self.foreignKey) }
    return .reply(.answered(Array("{}".utf8)))
  }
}

extension StoreValue {
  /// The pins that answers name, 32 bytes each, the one in service first.
  static let pins = "pins"
}
