/// Values that cannot hold bad data.
import PortcullisClient
import PortcullisProtocol
import Testing

@testable import PortcullisDevice

@Suite struct ValueTests {
  private func tree(_ json: String) throws -> JSONTree {
    try JSONTree(parsing: Array(json.utf8), depthLimit: 8)
  }

  @Test func pins() throws {
    let one = "\"\(Sample.pin.base64URL)\""
    for (text, count) in [(one, 1), (Array(repeating: one, count: 8).joined(separator: ","), 8)] {
      #expect(Pins(try #require(try tree("{\"pins\":[\(text)]}").object))?.hashes.count == count)
    }
    for text in ["", Array(repeating: one, count: 9).joined(separator: ","), "\(one),\"x\"", "\(one),1"] {
      #expect(Pins(try #require(try tree("{\"pins\":[\(text)]}").object)) == nil)
    }
    // Nobody is let in by mistake.
    #expect(DevicePins().current == nil && DevicePins().pins.hashes.count == 1)
  }

  @Test func allOfARecordComesBack() throws {
    var record = DeviceRecord(
      host: "gate", port: 8443, platform: .android, name: DeviceName("Zo\u{EB}"),
      keys: .init(device: KeyName("d"), approval: nil))
    #expect(try DeviceRecord(json: record.json) == record)
    record.keys.approval = KeyName("a")
    record.newKeys = .init(device: KeyName("d2"), approval: KeyName("a2"))
    record.server = try Sample.serverID()
    record.device = try Sample.deviceID()
    record.pins = Pins([Sample.octets(1).bytes, Sample.octets(2).bytes])
    record.appKeyID = "k"
    #expect(try DeviceRecord(json: record.json) == record)
    let text = String(decoding: record.json, as: UTF8.self)
    #expect(throws: DeviceStoreError.later) {
      try DeviceRecord(json: Array(text.replacing("\"v\":1", with: "\"v\":2").utf8))
    }
    // A phone that has lost a pin would believe whomever it meets.
    for (good, bad) in [
      (Sample.octets(1).base64URL, "x"), ("\"pins\":[", "\"pins\":[],\"x\":["), (Sample.device, "x"),
      ("\"v\":1", "\"v\":0"), ("\"port\":8443", "\"port\":65536"), ("{", "["),
    ] {
      #expect(throws: DeviceStoreError.self) {
        try DeviceRecord(json: Array(text.replacing(good, with: bad).utf8))
      }
    }
  }

  /// Names are new at each making.
  @Test func keyNames() {
    let names = Set((0..<100).map { _ in KeyName(random: .device) })
    #expect(names.count == 100 && names.allSatisfy { $0.text.hasPrefix("device-") })
  }

  @Test func lists() throws {
    let summary = try Sample.summary()
    let items = (0..<100).map { number in
      Sample.item(summary, id: "11111111-2222-4333-8444-\(String(format12(number)))")
    }
    let twice = (items + items + ["{}", "null", "{\"id\":1}"]).joined(separator: ",")
    let object = try #require(try tree("{\"items\":[\(twice)],\"cursor\":\"c\"}").object)
    #expect(OpenItems(object, { Approval($0) }, id: { $0.id.text })?.items.count == 64)
    for cursor in ["\"a b\"", "1", "\"\(String(repeating: "a", count: 65))\"", "\"a/b\""] {
      let object = try #require(try tree("{\"items\":[],\"cursor\":\(cursor)}").object)
      #expect(OpenItems(object, { Approval($0) }, id: { $0.id.text }) == nil)
    }
  }

  private func format12(_ number: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: 12 - digits.count) + digits
  }

  @Test(arguments: [
    ("\"match_digits\":2", "\"match_digits\":1"), ("\"match_digits\":2", "\"match_digits\":7"),
    ("\"expires_at\":1800000060", "\"expires_at\":9007199254740992"),
    ("\"expires_at\":1800000060", "\"expires_at\":-1"), ("11111111-", "1111111-"),
  ])
  func noApproval(good: String, bad: String) throws {
    let item = Sample.item(try Sample.summary())
    #expect(Approval(try tree(item)) != nil)
    #expect(Approval(try tree(item.replacing(good, with: bad))) == nil)
  }

  @Test func logins() throws {
    let login = """
      {"challenge_id":"\(Sample.device)","nonce":"\(Sample.octets(1).hex)","service":"mud","text":"A login",\
      "expires_at":1800000060}
      """
    #expect(Login(try tree(login))?.service == "mud")
    for (good, bad) in [("A login", "A \\u202elogin"), ("mud", "m\\u0000d"), (Sample.device, "x")] {
      #expect(Login(try tree(login.replacing(good, with: bad))) == nil)
    }
  }

  @Test(arguments: ["12345", "1234567", "12345a", "１23456"])
  func noCode(code: String) throws {
    let object = try tree("{\"otp_code\":\"\(code)\",\"expires_at\":1800000060}").object
    #expect(OneTimeCode(try #require(object)) == nil)
  }

  @Test func refusals() {
    let named = DeviceReply(status: 503, code: "overloaded", retryAfter: -1).failure
    #expect(named.kind == .refused && named.retryAfter == 0 && named.detail == "refused with 503 overloaded")
    #expect(DeviceReply(status: 429, code: nil, retryAfter: 1e9).failure.retryAfter == 3600)
    #expect(DeviceReply(status: 200, body: Array("<html>".utf8)).failure.kind == .protocolViolation)
    #expect(DeviceReply(status: 302).failure.kind == .interference)
    #expect(DeviceReply(status: 403, code: "of_later_times").failure.code == nil)
    #expect(
      DeviceReply(status: 200, body: [UInt8](repeating: 0x20, count: 65_537) + Array("{}".utf8)).object == nil
    )
  }
}
