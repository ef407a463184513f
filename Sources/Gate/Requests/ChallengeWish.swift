/// What the query of `GET /attest/challenge` asks for (docs/protocol.md, "Challenges").
package import Admission
package import Bytes
package import HTTPWire

package enum ChallengeWish: Equatable {
  case scope(ChallengeScope)
  /// For the registration of this key alone.
  case registration(KeyIdentifier)

  /// The value of `purpose` that is a registration's.
  private static let register = "register"

  /// Where no purpose is named that the gate knows of, the query is nobody's business.
  /// - Parameters:
  ///   - attests: whether keys can be registered.
  ///   - hasDevices: whether there are devices, for which the other purposes are.
  package init(_ query: String?, attests: Bool, hasDevices: Bool) throws(DeviceQuery.Malformed) {
    guard let query, DeviceQuery.names(.purpose, in: query),
      hasDevices || attests && DeviceQuery.has(.purpose, Self.register, in: query)
    else {
      self = .scope(.door)
      return
    }
    let members = try DeviceQuery(query, allowing: [.purpose, .key])
    guard let word = members[.purpose] else { throw .value }
    if attests, word == Self.register {
      guard let key = members[.key].flatMap(Self.key) else { throw .value }
      self = .registration(key)
    } else {
      guard let purpose = ChallengePurpose(rawValue: word), purpose.isAskedForByName else { throw .value }
      self = .scope(.purpose(purpose))
    }
  }

  /// From base64url: `+` would be a blank to many a library that reads a query.
  private static func key(_ text: String) -> KeyIdentifier? {
    text.utf8.contains { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/") }
      ? nil : KeyIdentifier(base64: text)
  }
}
