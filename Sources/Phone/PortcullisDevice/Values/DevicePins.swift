/// By which keys the gate of a device is known.
public import PortcullisClient
internal import PortcullisProtocol

extension Pins {
  init(_ hash: Octets32) {
    guard let pins = Self([hash.bytes]) else { fatalError("a hash of 32 bytes is no pin") }
    self = pins
  }

  /// Nil where they are missing, none, too many, or not all of that form: a phone without pins would believe anybody.
  init?(_ object: JSONTree.Object) {
    guard let texts = object["pins"]?.array, (1...8).contains(texts.count) else { return nil }
    let hashes = texts.compactMap { text in text.string.flatMap { Octets32(base64: $0)?.bytes } }
    guard hashes.count == texts.count else { return nil }
    self.init(hashes)
  }
}

/// The pins of now, for whatever opens connections to the device's gate: asked at each of them, from any thread.
public final class DevicePins: PinSource {
  private let known = Locked<Pins?>(nil)

  /// Knows none yet.
  public init() {}

  /// Nil: none are known.
  public var current: Pins? { known.withLock { $0 } }

  /// While none are known, one that no key has: nobody is let in by mistake.
  public var pins: Pins { current ?? Pins(SHA2.hash(Array("no pins are known".utf8))) }

  func set(_ new: Pins?) { known.withLock { $0 = new } }
}
