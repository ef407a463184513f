import Admission
import Bytes
import HTTPWire
import Testing

@testable import Requests

/// What `GET /attest/challenge` is asked for by its query (docs/protocol.md, "Challenges").
@Suite struct ChallengeWishTests {
  private static let key = KeyIdentifier(Bytes32(InlineArray<32, UInt8>(repeating: 0xFB)))
  /// 43 characters of base64url.
  private static let text = String(repeating: "-_v7", count: 10) + "-_s"

  /// Nil for 400.
  private func wish(_ query: String?, attests: Bool = true, hasDevices: Bool = false) -> ChallengeWish? {
    do throws(DeviceQuery.Malformed) {
      return try ChallengeWish(query, attests: attests, hasDevices: hasDevices)
    } catch {
      return nil
    }
  }

  @Test func ofARegistration() {
    for hasDevices in [false, true] {
      for query in [
        "purpose=register&key=\(Self.text)", "key=\(Self.text)&purpose=register",
        "purpose=register&key=\(Self.text)=", "purpose=register&key=\(Self.text)%3D",
      ] {
        #expect(wish(query, hasDevices: hasDevices) == .registration(Self.key), "\(query)")
      }
    }
  }

  @Test(arguments: [
    "purpose=register", "purpose=register&key=", "purpose=register&key", "purpose=register&key=AA",
    "purpose=register&key=\(text.dropLast())", "purpose=register&key=\(text)A",
    "purpose=register&key=*\(text.dropFirst())",
    "purpose=register&key=\(text)&key=\(text)", "purpose=register&purpose=register&key=\(text)",
    "purpose=register&key=\(text)&wait=1", "purpose=register&key=\(text)&",
    "purpose=register&key=\(text.replacing("-", with: "+").replacing("_", with: "/"))",
    "purpose=register&purpose=attest&key=\(text)",
  ])
  func malformed(query: String) {
    #expect(wish(query) == nil)
    #expect(wish(query, hasDevices: true) == nil)
  }

  /// Without app ids there is nothing to be registered.
  @Test func withoutAppIDs() {
    #expect(wish("purpose=register&key=\(Self.text)", attests: false, hasDevices: true) == nil)
  }

  /// The others need devices, and ignore a key.
  @Test func ofDevices() {
    #expect(wish("purpose=attest", hasDevices: true) == .scope(.purpose(.attest)))
    #expect(wish("purpose=attest&key=x", hasDevices: true) == .scope(.purpose(.attest)))
    #expect(wish("purpose=attest") == .scope(.door))
    #expect(wish("purpose=presence", hasDevices: true) == nil)
    #expect(wish("purpose=registers", hasDevices: true) == nil)
    #expect(wish("purpose=registers") == .scope(.door))
  }

  @Test(arguments: [nil, "", "x", "key=\(text)", "repurpose=register", "purposes=register"])
  func nothingIsAsked(query: String?) {
    #expect(wish(query) == .scope(.door))
    #expect(wish(query, hasDevices: true) == .scope(.door))
  }
}
