/// Tokens of devices at the registry: who gets one, what ends it, and that it alone changes nothing.
import Bytes
import Crypto
import DeviceTokens
import DeviceWire
import JSON
import PortcullisProtocol
import System
import Testing
import Time

@testable import Registry

@Suite struct TokenCallTests {
  let registry: RegistryHarness
  let part: DevicePart

  init() throws {
    registry = try RegistryHarness()
    part = DevicePart(registry)
  }

  private func token(_ phone: TestPhone) throws -> String { try #require(try part.token(phone)["token"]) }

  private func claims(_ token: String) throws -> DeviceToken {
    let bytes = Array(token.utf8)
    return try registry.tokens.read(
      bytes.span, issuer: registry.settings.publicURL,
      audiences: [registry.settings.publicURL, "forum"], now: registry.now)
  }

  @Test func whatItSays() throws {
    let phone = try part.activePhone("ada", evidence: appKey(1))
    let token = try claims(token(phone))
    #expect(token.device == phone.id && token.issuer == "https://gate.example")
    #expect(token.deviceKey == KeyThumbprint(try phone.keys.device.point))
    #expect(token.level == .appAttested && token.userVerification == .app && token.platform == .ios)
    #expect(token.attestedAt == UnixSeconds(registry.now) && token.appVersion == nil)
    #expect(token.expiresAt - token.issuedAt == 600)
  }

  @Test func audiences() throws {
    let phone = try part.activePhone()
    #expect(try part.token(phone, audience: "forum").code == .badRequest)
    registry.settings.tokenAudiences = ["forum"]
    let forum = try #require(try part.token(phone, audience: "forum")["token"])
    let said = try claims(forum)
    #expect(said.audience == "forum" && said.expiresAt - said.issuedAt == 300)
    // It is for others, and never accepted here.
    #expect(try part.read(forum).code == .tokenRejected)
    #expect(try part.beat(forum, signedBy: nil).code == .tokenRejected)
    // The audience is under the signature.
    #expect(try part.token(phone) { $0["audience"] = "forum" }.code == .signatureRejected)
    #expect(try part.token(phone, audience: "forum") { $0["audience"] = nil }.code == .signatureRejected)
    let waiting = try TestPhone()
    _ = try part.enroll(waiting)
    #expect(try part.token(waiting, audience: "forum").code == .devicePending)
    #expect(try part.token(waiting).code == nil)
  }

  /// Anybody can have a phone that waits, and tokens for it: rows of the audit would be his to make.
  @Test func whoWaitsIsAStranger() throws {
    let waiting = try TestPhone()
    let token = try #require(try part.enroll(waiting)["token"])
    let list = try registry.run(ListCodes(bearer: token, after: nil))
    #expect(try Said(list).code == .devicePending && registry.known.isEmpty)
    #expect(try part.rotate(waiting, to: TestPhone()).code == .devicePending)
    #expect(registry.known.isEmpty)
    _ = try part.confirm(waiting)
    _ = try registry.run(ListCodes(bearer: token, after: nil))
    #expect(!registry.known.isEmpty)
  }

  @Test func whoAsks() throws {
    let (phone, other) = (try part.activePhone(), try part.activePhone())
    let foreign = try other.tokenBody(part.server, nonce: Bytes32(words: 1, 2, 3, 99))
    #expect(try part.token(phone) { $0["signature"] = foreign["signature"] }.code == .signatureRejected)
    #expect(try part.token(phone) { $0["device_id"] = foreign["device_id"] }.code == .signatureRejected)
    let unknown = DeviceID(random: KernelEntropy()).text
    #expect(try part.token(phone) { $0["device_id"] = unknown }.code == .deviceUnknown)
    // The approval key is for a person's decisions alone.
    let nonce = Bytes32(words: 5, 5, 5, 5)
    let message = DeviceMessage.deviceAuth(
      server: part.server, device: try phone.required, nonce: nonce, for: .token(.gate))
    let body = Body([
      ("device_id", try phone.required.text), ("nonce", nonce.hex),
      ("signature", try #require(phone.approval).sign(message)),
    ])
    let call = IssueToken(try TokenForm(body.form), nonce: SpentNonce(spent: nonce))
    #expect(try Said(registry.run(call, from: DevicePart.home)).code == .signatureRejected)
  }

  /// What somebody has who has read a token: ten minutes of what the device may read.
  @Test func aStolenTokenChangesNothing() throws {
    let (phone, thief) = (try part.activePhone("ada"), try part.activePhone("eve"))
    let stolen = try token(phone)
    let before = try part.record(phone)
    #expect(try part.beat(stolen, signedBy: nil, rooted: true).code == nil)
    #expect(try part.record(phone) == before)
    #expect(try part.beat(stolen, signedBy: thief, rooted: true).code == .signatureRejected)
    #expect(try part.record(phone) == before)
    #expect(try part.read(stolen)["subject"] == "ada")
    registry.now = UnixTime(milliseconds: registry.now.milliseconds + 600_000)
    #expect(try part.read(stolen).code == .tokenRejected)
  }

  @Test func whatEndsThem() throws {
    let phone = try part.activePhone(evidence: appKey(1))
    var last = try token(phone)
    #expect(try part.read(last).code == nil)

    // The App Attest key is revoked: the device is bare, and its tokens say otherwise.
    _ = try registry.run(EndAttestedKeys([appKey(1)]), from: .gate)
    #expect(try part.read(last).code == .tokenRejected)
    last = try token(phone)
    #expect(try claims(last).level == .bare && claims(last).attestedAt == nil)

    // The keys change.
    let next = try TestPhone()
    #expect(try part.rotate(phone, to: next).code == nil)
    #expect(try part.read(last).code == .tokenRejected)
    #expect(try part.token(phone).code == .signatureRejected)
    last = try token(next)

    // The device is revoked, within the second.
    try part.revoke(next)
    #expect(try part.read(last).code == .tokenRejected)
    #expect(try part.token(next).code == .deviceRevoked)
  }

  /// The key store may have heard of a revocation that this store could not take: a start compares them.
  @Test func keysThatAreRevokedElsewhereAreFound() throws {
    let (phone, other) = (
      try part.activePhone(evidence: appKey(1)), try part.activePhone("bea", evidence: appKey(2))
    )
    let (gone, bare) = (try part.activePhone("eve", evidence: appKey(3)), try part.activePhone("kim"))
    try part.revoke(gone)
    let many = (1000..<3000 as Range<UInt64>).map { appKey($0) }
    let revoked = many + [appKey(3), appKey(1)] + many
    // Not by those who are revoked already: nothing is left to end of them, at this start or any.
    #expect(try registry.store.attestedKeys(among: revoked) == [appKey(1)])
    registry.effects = []
    _ = try registry.run(EndAttestedKeys(revoked), from: .gate)
    #expect(registry.effects.contains(.deviceActive(try part.record(phone).active)))
    #expect(try part.record(phone).level == .bare && part.record(phone).attestedKey == nil)
    #expect(try part.record(other).attestedKey == appKey(2) && part.record(bare).state == .active)
    #expect(try part.record(gone).attestedKey == appKey(3))
    #expect(try registry.store.attestedKeys(among: revoked) == [])
  }

  @Test func namesNobodyElse() throws {
    let phone = try part.activePhone()
    for text in ["", "a.b.c", "Bearer", String(repeating: "a", count: 5000)] {
      #expect(try part.read(text).code == .tokenRejected)
    }
    // Truly signed, by another gate's key.
    let other = TokenKeyRing(first: try TokenKey.generate(), at: UnixSeconds(registry.now))
    let foreign = try other.issue(claims(token(phone)))
    #expect(try part.read(foreign).code == .tokenRejected)
  }

  // MARK: Services ask

  private func service(_ name: String, scopes: String, subjects: String = "*") throws -> String {
    let said = try part.order(
      "services-add", #"{"name":"\#(name)","scopes":["\#(scopes)"],"subjects":"\#(subjects)"}"#)
    return try #require(said["token"])
  }

  private func introspect(_ token: String, as service: String) throws -> Said {
    let bytes = Array(#"{"token":"\#(token)"}"#.utf8)
    let form = try IntrospectForm(Form(body: bytes.span, checkedBy: registry.verifier))
    return try Said(registry.run(Introspect(bearer: service, form), from: DevicePart.home))
  }

  private func isActive(_ said: Said) -> Bool? { said.value.object?["active"]?.boolean }

  @Test func introspection() throws {
    let (phone, nobodys) = (try part.activePhone("ada", evidence: appKey(1)), try part.activePhone())
    let forum = try service("forum", scopes: "devices.read", subjects: "a*")
    let text = try token(phone)
    let said = try introspect(text, as: forum)
    #expect(isActive(said) == true && said["device_id"] == phone.id?.text && said["subject"] == "ada")
    #expect(said["level"] == "app_attested" && said["uv"] == "app")
    #expect(said.value.object?["exp"]?.integer == UnixSeconds(registry.now).value + 600)
    let anonymous = try introspect(token(nobodys), as: forum)
    #expect(isActive(anonymous) == true && anonymous["subject"] == nil)

    // One that was made for others is theirs to ask about.
    registry.settings.tokenAudiences = ["forum"]
    let forForum = try #require(try part.token(phone, audience: "forum")["token"])
    #expect(try isActive(introspect(forForum, as: forum)) == true)

    // Subjects that are not the service's, what nobody issued, and who has no scope.
    let other = try service("other", scopes: "devices.read", subjects: "b*")
    #expect(try isActive(introspect(text, as: other)) == false)
    #expect(try isActive(introspect("a.b.c", as: forum)) == false)
    #expect(try introspect(text, as: service("codes", scopes: "codes")).code == .scopeMissing)
    #expect(try introspect(text, as: "nobody").code == .tokenRejected)
    #expect(try introspect(text, as: text).code == .tokenRejected)

    try part.revoke(phone)
    for ended in [text, forForum] { #expect(try isActive(introspect(ended, as: forum)) == false) }
  }

  @Test func keysOutliveARestart() throws {
    let phone = try part.activePhone()
    let token = Array(try token(phone).utf8)
    let again = try TokenMint(registry.store, at: registry.now, P256Verifier())
    #expect(again.ring.jwks == registry.tokens.ring.jwks)
    _ = try again.read(
      token.span, issuer: registry.settings.publicURL, audiences: [registry.settings.publicURL],
      now: registry.now)
  }

  /// A key that signs no more loses its private half, and its public one is there for what it has signed.
  @Test func keysThatHaveGone() throws {
    let first = registry.tokens.ring.current.key
    var now = registry.now
    for days in [29, 30, 31] as [Int64] {
      now = UnixTime(milliseconds: registry.now.milliseconds + days * 86_400_000)
      holds(try registry.tokens.advance(registry.store, to: now))
    }
    #expect(
      try registry.store.tokenKeys().map(\.key.thumbprint) == [registry.tokens.ring.current.key.thumbprint])
    #expect(try registry.store.tokenKey(first.thumbprint) == first.point)
    #expect(try registry.store.tokenKey(KeyThumbprint(try TokenKey.generate().point)) == nil)
  }
}
