/// Revocation lists: what is read, what is none, and that numbers are compared.
import Bytes
import JSON
import Testing

@testable import AndroidKey

@Suite struct RevocationTests {
  private func list(_ text: String) throws -> RevocationList {
    let bytes = Array(text.utf8)
    return try RevocationList(json: bytes.span)
  }

  @Test func numbersNotSpellings() throws {
    let list = try list(
      """
      {"version": [1, null, {}], "entries": {"00aB": {"status": "REVOKED", "reason": "X", "expires": "2020-01-01"},
       "c": {"status": ""}, "\\u0064": {"status": "SUSPENDED"}, "\(String(repeating: "f", count: 60))": {"status": "R"}}}
      """)
    #expect(list.count == 4)
    for text in ["ab", "AB", "0000ab", "c", "d", "0" + String(repeating: "F", count: 60)] {
      #expect(CertificateSerial(hex: text).map(list.contains) == true, "\(text)")
    }
    for text in ["a", "abc", "b", "0", String(repeating: "f", count: 48), String(repeating: "f", count: 59)] {
      #expect(CertificateSerial(hex: text).map(list.contains) == false, "\(text)")
    }
    let bytes: [UInt8] = [0, 0, 0xAB]
    #expect(list.contains(CertificateSerial(magnitude: bytes.span)))
  }

  @Test(arguments: [
    ("{}", RevocationListError.entries), ("[]", .entries), ("3", .entries),
    (#"{"entries":[]}"#, .entries), (#"{"entries":null}"#, .entries),
    (#"{"entries":{},"entries":{}}"#, .entries), (#"{"entries":{"":{"status":"R"}}}"#, .serial),
    (#"{"entries":{"0x1":{"status":"R"}}}"#, .serial), (#"{"entries":{"g":{"status":"R"}}}"#, .serial),
    (#"{"entries":{"1":"REVOKED"}}"#, .status), (#"{"entries":{"1":{}}}"#, .status),
    (#"{"entries":{"1":{"status":1}}}"#, .status), (#"{"entries":{"1":{"status":null}}}"#, .status),
    (#"{"entries":{"1":{"reason":"R"}}}"#, .status),
  ])
  func refused(text: String, error: RevocationListError) {
    #expect(throws: error) { try list(text) }
  }

  @Test(arguments: ["", "{", #"{"entries":{}"#, #"{"entries":{}} x"#, #"{"entries":{"1":{"status":"R"}}"#])
  func noJSON(text: String) throws {
    #expect {
      _ = try list(text)
    } throws: { error in
      if case .json? = error as? RevocationListError { return true }
      return text.isEmpty && error as? RevocationListError == .entries
    }
  }

  @Test func sizes() throws {
    let head = Array(#"{"entries":{}"#.utf8)
    var text =
      head + [UInt8](repeating: 0x20, count: RevocationList.maximumBytes - head.count - 1) + Array("}".utf8)
    #expect(try RevocationList(json: text.span) == .empty)
    text.append(0x20)
    #expect(throws: RevocationListError.tooLarge) { try RevocationList(json: text.span) }
  }

  @Test func serials() {
    for (text, shown) in [("0", "0"), ("000", "0"), ("0A", "a"), ("10000000000000000", "10000000000000000")] {
      #expect(CertificateSerial(hex: text)?.hex == shown)
    }
    for bad in ["", "-1", "+1", "0x1", " 1", "\u{661}"] {
      #expect(CertificateSerial(hex: bad) == nil, "\(bad)")
    }
  }

  /// Whether it is in the last 24 bytes or before them: each digit counts, and leading zeros do not.
  @Test(arguments: [1, 2, 46, 47, 48, 49, 50, 51, 96, 97, 16_000]) func serialsOfAnyLength(count: Int) {
    let digits = "a" + String((1..<count).map { Character(String($0 % 16, radix: 16)) })
    let serial = CertificateSerial(hex: digits)
    #expect(serial?.hex == digits && serial == CertificateSerial(hex: "000" + digits.uppercased()))
    let bytes = Array((count.isMultiple(of: 2) ? digits : "0" + digits).utf8)
    let magnitude = [0, 0] + (Hex.decode(bytes.span) ?? [])
    #expect(CertificateSerial(magnitude: magnitude.span) == serial)
    var other = Array(digits)
    for place in [0, count / 2, count - 1] {
      other[place] = other[place] == "b" ? "c" : "b"
      #expect(CertificateSerial(hex: String(other)) != serial)
      other[place] = Array(digits)[place]
    }
  }

  /// Any certificate of the chain, and only while the list is fresh.
  @Test func chains() throws {
    var phone = try AttestedPhone()
    let chain = try phone.chain()
    for serial in try phone.verify(chain).serials {
      phone.policy.revocation = try list("{\"entries\":{\"0\(serial.hex.uppercased())\":{\"status\":\"?\"}}}")
      #expect(try phone.rejection(chain) == .revoked)
    }
    phone.policy.revocation = .empty
    phone.policy.revocationMaximumAge = 100
    for (age, rejection) in [
      (-301, .revocationStale), (-300, nil), (0, nil), (100, nil), (101, .revocationStale),
    ]
      as [(Int64, AndroidKeyRejection?)]
    {
      phone.policy.revocationAge = age
      #expect(try phone.rejection(chain) == rejection)
    }
    phone.policy.revocationAge = nil
    #expect(try phone.rejection(chain) == .revocationStale)
    phone.policy.revocationAge = 0
    phone.policy.revocation = nil
    #expect(try phone.rejection(chain) == .revocationStale)
  }
}
