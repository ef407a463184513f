/// Seeds that nobody can write by hand: what has to be signed, or to carry a checksum.
///
/// `UPDATE_SEEDS=1 make unit-tests SWIFT_TEST_FLAGS='--filter FuzzingTests'` writes them anew.
@testable internal import AppAttest
internal import Bytes
internal import CBOR
@testable internal import KeyStore
internal import Identity
internal import System
internal import Time
internal import X509

package struct SignedSeed: Sendable {
  package let harness: Harness
  /// Begins with what the parser says: `accepted` or `refused`.
  package let name: String
  package let bytes: [UInt8]

  package static let all =
    attestations + assertions + authenticatorData + certificates + journals + snapshots
    + deviceTokens
    + androidKeys
    + playTokens
    + slots
    + luggages

  private static let authority = TestAuthority.shared

  // MARK: App Attest

  private static let attestations: [SignedSeed] = {
    let plain = authority.attestedData(.unsaid)
    let said = authority.attestedData(.said)
    let leaf = authority.leaf(for: plain)
    func object(_ data: [UInt8], leaf: [UInt8]? = nil, receipt: String = "a receipt") -> [UInt8] {
      TestAuthority.attestation(
        leaf: leaf ?? authority.leaf(for: data), intermediate: authority.intermediate,
        receipt: Array(receipt.utf8), data: data)
    }
    func changed(_ data: [UInt8], _ place: Int, _ byte: UInt8) -> [UInt8] {
      var data = data
      data[place] = byte
      return data
    }
    return [
      SignedSeed(.attestation, "accepted-of-ios-26", object(plain, leaf: leaf)),
      SignedSeed(.attestation, "accepted-of-ios-27", object(said)),
      SignedSeed(.attestation, "accepted-without-receipt", object(plain, leaf: leaf, receipt: "")),
      SignedSeed(.attestation, "refused-another-nonce", object(said, leaf: leaf)),
      SignedSeed(.attestation, "refused-development", object(changed(plain, 46, UInt8(ascii: "d")))),
      SignedSeed(.attestation, "refused-counter", object(changed(plain, 36, 1))),
      SignedSeed(.attestation, "refused-another-app", object(changed(plain, 0, 0))),
      SignedSeed(.attestation, "refused-another-credential", object(changed(plain, 55, 0))),
      SignedSeed(.attestation, "refused-another-key", object(changed(plain, 100, 0))),
      SignedSeed(.attestation, "refused-flag-without-extensions", object(changed(plain, 32, 0xC0))),
      SignedSeed(.attestation, "refused-bytes-left-over", object(plain + [0])),
      SignedSeed(
        .attestation, "refused-signed-by-the-device-itself",
        object(plain, leaf: Array(leaf.dropLast(64)) + authority.sign(plain, by: .device).suffix(64))),
      SignedSeed(
        .attestation, "refused-intermediate-as-leaf", object(plain, leaf: authority.intermediate)),
    ]
  }()

  private static let assertions: [SignedSeed] = {
    let plain = authority.assertedData(.unsaid, signCount: 8)
    return [
      SignedSeed(.assertion, "accepted-of-ios-26", authority.assertion(plain)),
      SignedSeed(
        .assertion, "accepted-of-ios-27", authority.assertion(authority.assertedData(.said, signCount: 8))),
      SignedSeed(
        .assertion, "refused-counter-seen",
        authority.assertion(authority.assertedData(.unsaid, signCount: 7))),
      SignedSeed(
        .assertion, "refused-another-challenge", authority.assertion(plain, clientDataHash: Bytes32())),
      SignedSeed(.assertion, "refused-cut-data", authority.assertion(Array(plain.dropLast()))),
      SignedSeed(.assertion, "refused-cut", Array(authority.assertion(plain).dropLast())),
    ]
  }()

  private static let authenticatorData: [SignedSeed] = {
    func said(_ flags: UInt8, _ write: (inout CBOREncoder) -> Void) -> [UInt8] {
      var encoder = CBOREncoder()
      write(&encoder)
      var head = authority.assertedData(.unsaid, signCount: 9)
      head[32] = flags
      return head + encoder.bytes
    }
    func said(_ flags: UInt8, _ name: String, _ number: UInt64) -> [UInt8] {
      said(flags) { encoder in
        encoder.beginMap(pairs: 1)
        encoder.append(text: name)
        encoder.append(unsigned: number)
      }
    }
    return [
      SignedSeed(
        .authenticatorData, "accepted-of-ios-26", authority.assertedData(.unsaid, signCount: 9)),
      SignedSeed(.authenticatorData, "accepted-of-ios-27", authority.assertedData(.said, signCount: 9)),
      SignedSeed(.authenticatorData, "accepted-of-an-attestation", authority.attestedData(.said)),
      SignedSeed(
        .authenticatorData, "accepted-category-as-number",
        said(0xC0, "apple_validation_category_01", 4)),
      SignedSeed(
        .authenticatorData, "accepted-unflagged-of-apple",
        said(0x40, "apple_cd_hash_type_01", 2)),
      SignedSeed(
        .authenticatorData, "refused-unflagged-of-others",
        said(0x40, "credProtect", 2)),
      SignedSeed(.authenticatorData, "refused-empty-map", said(0xC0) { $0.beginMap(pairs: 0) }),
      SignedSeed(.authenticatorData, "refused-flag-alone", said(0xC0) { _ in }),
      SignedSeed(
        .authenticatorData, "refused-cut-head",
        Array(authority.assertedData(.unsaid, signCount: 9).dropLast())),
    ]
  }()

  private static let certificates: [SignedSeed] = {
    let leaf = authority.leaf(for: authority.attestedData(.unsaid))
    return [
      SignedSeed(.certificate, "accepted-leaf", leaf),
      SignedSeed(.certificate, "accepted-intermediate", authority.intermediate),
      SignedSeed(.certificate, "accepted-root", authority.root.certificate.der),
      SignedSeed(.certificate, "refused-trailing-byte", leaf + [0]),
      SignedSeed(.certificate, "refused-indefinite-length", [0x30, 0x80] + leaf.dropFirst(4) + [0, 0]),
      SignedSeed(.certificate, "refused-encoded-default", [0x30, 0x03, 0x01, 0x01, 0x00]),
      SignedSeed(.certificate, "refused-long-length", [0x30, 0x83, 0x00, 0x00, 0x00]),
      SignedSeed(
        .certificate, "refused-every-type",
        [
          0x30, 0x38, 0x01, 0x01, 0xFF, 0x02, 0x02, 0x00, 0x80, 0x03, 0x02, 0x04, 0xF0, 0x04, 0x01, 0x00,
          0x05, 0x00, 0x06, 0x03, 0x55, 0x1D, 0x13, 0x0C, 0x02, 0xC3, 0xA9, 0x13, 0x01, 0x41, 0x16, 0x01,
          0x40, 0x17, 0x0D, 0x32, 0x36, 0x30, 0x31, 0x30, 0x31, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x5A,
          0x31, 0x02, 0x05, 0x00, 0xBF, 0x89, 0x34, 0x00,
        ]),
    ]
  }()

  // MARK: Key store

  private static let key = KeyIdentifier(Bytes32(words: 1, 2, 3, 4))
  private static let otherKey = KeyIdentifier(Bytes32(words: 5, 6, 7, 8))
  private static let time = UnixTime(milliseconds: 1_771_286_400_000)

  private static func record(revoked: Bool = false) -> KeyRecord {
    KeyRecord(
      publicKey: P256Point(x: Bytes32(words: 9, 9, 9, 9), y: Bytes32(words: 8, 8, 8, 8)), signCount: 3,
      registeredAt: time, lastUsedAt: UnixTime(milliseconds: time.milliseconds + 1234),
      appID: "ABCDE12345.com.example.mud", environment: .production, validationCategory: 4,
      bundleVersion: "1.0 \"\u{E9}\"", revokedAt: revoked ? time : nil)
  }

  private static let journals: [SignedSeed] = {
    let header = JournalHeader(restarts: false, entropy: FixedEntropy())
    let registered = Fact.registered(key, record())
    let counted = Fact.counted(
      key, signCount: 12, at: time, appID: "ABCDE12345.com.example.two", environment: .development)
    func encode(_ facts: Fact...) -> [UInt8] {
      var bytes: [UInt8] = []
      for fact in facts { fact.append(to: &bytes) }
      return bytes
    }
    func batch(_ sequence: UInt64, _ facts: [UInt8]) -> [UInt8] {
      JournalBatch.bytes(sequence: sequence, facts: facts, salt: header.salt)
    }
    let first = batch(1, encode(registered, counted))
    let second = batch(2, encode(.revoked(key, at: time)))
    let whole = header.bytes + first + second
    return [
      SignedSeed(.journal, "accepted-header-alone", header.bytes),
      SignedSeed(
        .journal, "accepted-header-that-restarts",
        JournalHeader(restarts: true, entropy: FixedEntropy()).bytes),
      SignedSeed(.journal, "accepted-two-batches", whole),
      SignedSeed(.journal, "accepted-torn", Array(whole.dropLast(5))),
      SignedSeed(.journal, "accepted-torn-header", Array(header.bytes.dropLast(9))),
      SignedSeed(.journal, "accepted-facts", encode(registered, counted, .revoked(key, at: time))),
      SignedSeed(
        .journal, "accepted-facts-about-a-key-that-came-back",
        encode(
          registered, counted, .registered(otherKey, record(revoked: true)), .removed(key), registered,
          .counted(key, signCount: 5, at: time, appID: nil, environment: nil))),
      SignedSeed(
        .journal, "refused-damaged-first-batch",
        header.bytes + first.dropLast() + [first[first.count - 1] ^ 1] + second),
      SignedSeed(.journal, "refused-not-a-fact", header.bytes + batch(1, [9] + encode(counted))),
      SignedSeed(
        .journal, "refused-other-version",
        Array("portcullis-journal 2 0000000000000000 f 00000000\n".utf8)),
    ]
  }()

  private static let snapshots: [SignedSeed] = {
    var table = StoreContents.emptyTable()
    table.apply(.registered(key, record()))
    table.apply(.registered(otherKey, record(revoked: true)))
    table.extras[otherKey] = Array(",\"note\":{\"a\":[1,2]}".utf8)
    let whole = String(decoding: StoreContents.text(table), as: UTF8.self)
    let pem = String(record().publicKey.pem.dropLast()).split(separator: "\n").joined(separator: "\\n")
    let required =
      "\"publicKey\":\"\(pem)\\n\",\"signCount\":12,\"registeredAt\":\"2026-02-17T00:00:00.000Z\""
    func file(_ members: String, key: KeyIdentifier = key) -> [UInt8] {
      Array("{\n\"\(key)\":{\(members)}\n}\n".utf8)
    }
    return [
      SignedSeed(.snapshot, "accepted-empty-file", []),
      SignedSeed(.snapshot, "accepted-empty-object", Array("{\n}\n".utf8)),
      SignedSeed(.snapshot, "accepted-as-written", Array(whole.utf8)),
      SignedSeed(
        .snapshot, "accepted-older-design",
        Array(
          "{\r\n  \"\(key)\" : {\r\n    \(required), \"lastAssertedAt\":\"2026-03-01T00:00:00Z\" }\r\n}".utf8)
      ),
      SignedSeed(
        .snapshot, "accepted-other-spellings",
        file(
          required.replacing("12,", with: "4294967295,").replacing("\"signCount", with: "\"sign\\u0043ount")
            + ",\"revokedAt\":\"2026-03-02T00:00:00.5+01:00\",\"appId\":null"
            + ",\"x\": [ 1 , {\"y\" : \" \"} ]")),
      SignedSeed(.snapshot, "refused-without-key", file("\"signCount\":1")),
      SignedSeed(.snapshot, "refused-cut", Array(whole.utf8.dropLast(9))),
      SignedSeed(
        .snapshot, "refused-counter-too-large", file(required.replacing("12,", with: "4294967296,"))),
      SignedSeed(.snapshot, "refused-unknown-environment", file(required + ",\"environment\":\"prod\"")),
      SignedSeed(.snapshot, "refused-time", file(required.replacing("-02-17", with: "-02-30"))),
      SignedSeed(.snapshot, "refused-member-twice", file(required + ",\"signCount\":12")),
      SignedSeed(
        .snapshot, "refused-key-twice",
        Array("{\"\(key)\":{\(required)},\"\(key)\":{\(required)}}".utf8)),
    ]
  }()

  init(_ harness: Harness, _ name: String, _ bytes: [UInt8]) {
    self.harness = harness
    self.name = name
    self.bytes = bytes
  }
}
