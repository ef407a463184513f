/// The key ring over months: a key is known a day before it signs, and as long afterwards as its tokens live.
import Bytes
import Crypto
import DeviceWire
import JSON
import System
import Testing

@testable import DeviceTokens

@Suite struct KeyRingTests {
  private let hour: Int64 = 3600
  private let day: Int64 = 86_400

  private func ring() throws -> TokenKeyRing { TokenKeyRing(first: try TokenKey.generate(), at: noon) }

  private func advance(_ ring: inout TokenKeyRing, to seconds: Int64) throws -> Bool {
    try ring.advance(to: at(seconds), makeKey: TokenKey.generate)
  }

  private func roles(_ ring: TokenKeyRing) -> [TokenKeyRing.Role] { ring.members.map(\.role) }

  @Test func aMonth() throws {
    var ring = try ring()
    let first = ring.current.key.identifier
    #expect(ring.nextChange == at(29 * day))
    #expect(try !advance(&ring, to: 29 * day - 1))
    #expect(roles(ring) == [.current])

    #expect(try advance(&ring, to: 29 * day))
    #expect(roles(ring) == [.current, .next])
    let second = try #require(ring.next).key.identifier
    #expect(ring.current.key.identifier == first && second != first)
    #expect(ring.nextChange == at(30 * day))
    #expect(try !advance(&ring, to: 30 * day - 1))

    let text = try ring.issue(token())
    #expect(try advance(&ring, to: 30 * day))
    #expect(roles(ring) == [.current, .previous])
    #expect(ring.current.key.identifier == second && ring.previous?.key.identifier == first)
    // What the previous key has signed is as good as before.
    _ = try verify(text, under: ring)
    #expect(ring.nextChange == at(30 * day + hour))
    #expect(try !advance(&ring, to: 30 * day + hour - 1))

    #expect(try advance(&ring, to: 30 * day + hour))
    #expect(roles(ring) == [.current] && ring.current.key.identifier == second)
    #expect(throws: TokenRejection.key) { _ = try verify(text, under: ring) }
    #expect(ring.nextChange == at(59 * day))
  }

  /// An operator's order: neither the key that signed nor the one that was to come next signs again.
  @Test(arguments: [false, true]) func aKeyThatNobodyHasSeen(endingTokens: Bool) throws {
    var ring = try ring()
    let (first, text) = (ring.current.key.identifier, try ring.issue(token()))
    #expect(try advance(&ring, to: 29 * day))
    let published = try #require(ring.next).key.identifier
    ring.replace(with: try TokenKey.generate(), at: at(29 * day + 1), endingTokens: endingTokens)
    #expect(ring.next == nil && ![first, published].contains(ring.current.key.identifier))
    #expect(roles(ring) == (endingTokens ? [.current] : [.current, .previous]))
    if endingTokens {
      #expect(throws: TokenRejection.key) { _ = try verify(text, under: ring) }
      #expect(ring.key(identifier: first) == nil)
    } else {
      _ = try verify(text, under: ring)
      #expect(ring.nextChange == at(29 * day + 1 + hour))
    }
    #expect(!String(decoding: ring.jwks, as: UTF8.self).contains(published))
    // As it is kept.
    #expect(TokenKeyRing(ring.members)?.current.key.identifier == ring.current.key.identifier)
  }

  /// A gate that was off for half a year still publishes its next key for a day.
  @Test func aLongSleep() throws {
    var ring = try ring()
    let first = ring.current.key.identifier
    #expect(try advance(&ring, to: 180 * day))
    #expect(roles(ring) == [.current, .next] && ring.current.key.identifier == first)
    #expect(ring.nextChange == at(181 * day))
    #expect(try !advance(&ring, to: 181 * day - 1))
    #expect(try advance(&ring, to: 400 * day))
    #expect(roles(ring) == [.current, .previous] && ring.current.key.identifier != first)
    #expect(try advance(&ring, to: 800 * day))
    #expect(roles(ring) == [.current, .next])
  }

  /// Hour by hour through years: the rules hold at each.
  @Test func always() throws {
    var ring = try ring()
    var firstSeen: [String: Int64] = [:]
    var lastSigned: [String: Int64] = [:]
    for now in stride(from: 0, to: 400 * day, by: 1800) {
      let change = ring.nextChange
      let hasChanged = try advance(&ring, to: now)
      #expect(hasChanged == (change <= at(now)))
      let current = ring.current.key.identifier
      for member in ring.members where firstSeen[member.key.identifier] == nil {
        firstSeen[member.key.identifier] = now
      }
      lastSigned[current] = now
      if firstSeen[current] != 0 { #expect(now - (firstSeen[current] ?? now) >= day) }
      for (key, time) in lastSigned where now - time < hour { #expect(ring.key(identifier: key) != nil) }
      #expect(ring.members.count <= 3)
    }
    #expect(firstSeen.count == 14)
  }

  @Test func aKeyThatCannotBeMadeChangesNothing() throws {
    var ring = try ring()
    #expect(throws: IssuingError.self) {
      _ = try ring.advance(to: at(29 * day)) { () throws(IssuingError) in throw .unsupportedKey }
    }
    #expect(roles(ring) == [.current])
    #expect(try advance(&ring, to: 29 * day))
  }

  @Test func keptAndRead() throws {
    var ring = try ring()
    _ = try advance(&ring, to: 29 * day)
    _ = try advance(&ring, to: 30 * day)
    _ = try advance(&ring, to: 30 * day + 1)
    let members = try ring.members.map { member in
      TokenKeyRing.Member(
        role: member.role, key: try TokenKey.read(scalar: try member.key.scalar()), since: member.since)
    }
    let again = try #require(TokenKeyRing(members.reversed()))
    #expect(roles(again) == roles(ring) && again.jwks == ring.jwks && again.nextChange == ring.nextChange)
  }

  @Test func notARing() throws {
    let (one, other) = (try TokenKey.generate(), try TokenKey.generate())
    func isRing(_ members: [(TokenKeyRing.Role, TokenKey)]) -> Bool {
      TokenKeyRing(members.map { .init(role: $0.0, key: $0.1, since: noon) }) != nil
    }
    #expect(isRing([(.current, one), (.next, other)]))
    #expect(!isRing([]))
    #expect(!isRing([(.next, one)]))
    #expect(!isRing([(.current, one), (.current, other)]))
    #expect(!isRing([(.current, one), (.previous, other), (.previous, try TokenKey.generate())]))
    #expect(!isRing([(.current, one), (.next, one)]))
  }

  /// The audit's head is signed by the key of the tokens, as a message that is nothing else.
  @Test func messagesAreSigned() throws {
    let ring = try ring()
    func head(_ sequence: UInt64) throws -> DeviceMessage {
      .auditHead(
        server: try #require(ServerID("6f9619ff-8b86-4011-b42d-00cf4fc964ff")), gate: "gate",
        sequence: sequence,
        hash: Bytes32(), at: noon)
    }
    let verifier = P256Verifier()
    let key = try #require(DevicePublicKey(ring.current.key.point, checkedBy: verifier))
    let signature = try #require(DeviceSignature(try ring.current.key.sign(try head(1))))
    #expect(signature.isValid(for: try head(1), by: key, verifier: verifier))
    #expect(!signature.isValid(for: try head(2), by: key, verifier: verifier))
  }

  @Test func publishedSet() throws {
    var ring = try ring()
    _ = try advance(&ring, to: 29 * day)
    let bytes = ring.jwks
    let value = try JSONValue(parsing: bytes.span, depthLimit: 4)
    let keys = try #require(value.object?["keys"]?.array)
    #expect(keys.count == 2)
    for (key, member) in zip(keys, ring.members) {
      let object = try #require(key.object)
      #expect(Set(object.members.map(\.name)) == ["kty", "crv", "x", "y", "kid", "use", "alg"])
      #expect(object["kid"]?.string == member.key.identifier)
      #expect(object["kty"]?.string == "EC" && object["crv"]?.string == "P-256")
      #expect(object["alg"]?.string == "ES256" && object["use"]?.string == "sig")
      let x = try #require(object["x"]?.string)
      let decoded = Base64URL.decode(Array(x.utf8).span)
      #expect(decoded == member.key.point.x.array)
    }
  }
}
