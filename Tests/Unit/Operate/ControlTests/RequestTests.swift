/// The control socket's requests: docs/running.md, "Control socket", and the member names of `ControlRequest`.
import Testing

@testable import Bytes
@testable import Control
@testable import JSON
@testable import Registry

@Suite struct RequestTests {
  static let keyID = KeyIdentifier(Bytes32(words: 1, 2, 3, 4))
  static let importOrder = ControlRequest.keysImport(
    ForeignKeys(
      source: "goldfinch", goodUntil: 1_771_286_400_000, appID: "TEAM123456.a.b",
      keys: [nil, 7].map { time in
        ForeignKeys.Key(
          identifier: keyID, publicKey: P256Point(x: keyID.digest, y: keyID.digest), signCount: .max,
          registeredAt: -1, lastUsedAt: time)
      }))

  @Test(arguments: [
    ControlRequest.health, .statistics, .refusals, .keysStatistics, .keysRevoke(keyID),
    .keysRevoke(keyID, reason: RevocationReason("lost: \"on the train\"")), .keysPrune(unusedSeconds: 0),
    .keysPrune(unusedSeconds: 15_552_000), .sessionsList, .sessionsClose(.connection("0-1a2b")),
    .sessionsClose(.key(keyID)), .sessionsClose(.session(17)), .drain, .undrain, .drainEnd, importOrder,
    .registry(RegistryOrder(.devicesList)),
    .admin(.link), .admin(.list), .admin(.token(name: "ci", scopes: ["read", "write"], seconds: 60)),
    .admin(.revoke(.name("alice"))), .admin(.revoke(.session(3))), .admin(.revoke(.all)),
    .registry(RegistryOrder(.devicesExcept, [("id", .string("a\"b")), ("until", .number(1_800_000_000))])),
  ])
  func roundTrip(request: ControlRequest) throws {
    let line = request.line
    #expect(!line.contains(UInt8(ascii: "\n")))
    #expect(try Self.parse(line) == request)
  }

  /// What a person may write by hand.
  @Test(arguments: [
    (#"{"command":"health"}"#, ControlRequest.health),
    (#" { "command" : "sessions-list" } "#, .sessionsList),
    (#"{"command":"keys-prune","unusedSeconds":60}"#, .keysPrune(unusedSeconds: 60)),
    (#"{"command":"\u0068ealth"}"#, .health),
    (#"{"command":"registry","verb":"bars-list","arguments":{}}"#, .registry(RegistryOrder(.barsList))),
  ])
  func accepted(text: String, request: ControlRequest) throws {
    #expect(try Self.parse(Array(text.utf8)) == request)
  }

  @Test(arguments: [
    ("", ControlRefusal.Code.badRequest),
    (#"{"command":"keys-import","from":"goldfinch","goodUntil":1}"#, .badRequest),
    (#"{"command":"keys-import","from":"goldfinch","goodUntil":1,"keys":[[]]}"#, .badRequest),
    (#"{"command":"keys-import","from":"goldfinch","goodUntil":1,"keys":[["AA","AA",-1,0]]}"#, .badRequest),
    (#"{"command":"keys-import","from":"goldfinch","goodUntil":1,"appId":7,"keys":[]}"#, .badRequest),
    (
      #"{"command":"keys-import","from":"goldfinch","goodUntil":1,"keys":["#
        + (0...512).map { _ in "0" }.joined(separator: ",") + "]}", .badRequest
    ),
    ("health", .badRequest),
    ("[]", .badRequest),
    ("{}", .badRequest),
    (#"{"command":1}"#, .badRequest),
    (#"{"command":"health"}{}"#, .badRequest),
    (#"{"command":"health","command":"stats"}"#, .badRequest),
    (#"{"command":"Health"}"#, .unknownCommand),
    (#"{"command":"shutdown"}"#, .unknownCommand),
    (#"{"command":"health","keyId":"x"}"#, .badRequest),
    (#"{"command":"keys-revoke"}"#, .badRequest),
    (#"{"command":"keys-revoke","keyId":"AAAA"}"#, .badRequest),
    (#"{"command":"keys-revoke","keyId":7}"#, .badRequest),
    (#"{"command":"keys-revoke","keyId":"\#(keyID.base64)","reason":"a\nb"}"#, .badRequest),
    (#"{"command":"keys-revoke","keyId":"\#(keyID.base64)","reason":" "}"#, .badRequest),
    (#"{"command":"keys-revoke","keyId":"\#(keyID.base64)","reason":7}"#, .badRequest),
    (#"{"command":"keys-prune"}"#, .badRequest),
    (#"{"command":"keys-prune","unusedSeconds":-1}"#, .badRequest),
    (#"{"command":"keys-prune","unusedSeconds":1.5}"#, .badRequest),
    (#"{"command":"keys-prune","unusedSeconds":31622400000}"#, nil),
    (#"{"command":"keys-prune","unusedSeconds":31622400001}"#, .badRequest),
    (#"{"command":"sessions-close"}"#, .badRequest),
    (#"{"command":"registry","verb":"devices-list"}"#, .badRequest),
    (#"{"command":"registry","arguments":{}}"#, .badRequest),
    (#"{"command":"registry","verb":"devices list","arguments":{}}"#, .badRequest),
    (#"{"command":"registry","verb":"","arguments":{}}"#, .badRequest),
    (#"{"command":"registry","verb":"devices-list","arguments":[]}"#, .badRequest),
    (#"{"command":"registry","verb":"devices-list","arguments":{},"user":0}"#, .badRequest),
    (#"{"command":"registry","verb":"x","arguments":{"a":{"b":{"c":{}}}}}"#, .badRequest),
    (#"{"command":"registry","verb":"x","arguments":{"a":1,"a":2}}"#, .badRequest),
    (#"{"command":"registry","verb":"devices-frobnicate","arguments":{}}"#, .unknownCommand),
    (#"{"command":"registry","verb":"devices-frobnicate"}"#, .badRequest),
    (#"{"command":"admin-link","user":"root"}"#, .badRequest),
    (#"{"command":"admin-token","name":"x","scopes":["read"]}"#, .badRequest),
    (#"{"command":"admin-token","name":"x","scopes":[1],"seconds":1}"#, .badRequest),
    (#"{"command":"admin-token","name":"x","scopes":"read","seconds":1}"#, .badRequest),
    (#"{"command":"admin-token","scopes":["read"],"seconds":1}"#, .badRequest),
    (#"{"command":"admin-token","name":"x","scopes":["read"],"seconds":-1}"#, .badRequest),
    (#"{"command":"admin-token","name":"x","scopes":["read"],"seconds":3162240001}"#, .badRequest),
    (#"{"command":"admin-revoke"}"#, .badRequest),
    (#"{"command":"admin-revoke","all":false}"#, .badRequest),
    (#"{"command":"admin-revoke","all":true,"name":"x"}"#, .badRequest),
    (#"{"command":"admin-revoke","session":0}"#, .badRequest),
    (#"{"command":"sessions-close","connection":7}"#, .badRequest),
    (
      #"{"command":"sessions-close","connection":"0-1","keyId":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}"#,
      .badRequest
    ),
  ])
  func refused(text: String, code: ControlRefusal.Code?) {
    var found: ControlRefusal.Code?
    do {
      _ = try Self.parse(Array(text.utf8))
    } catch {
      found = error.code
    }
    #expect(found == code)
  }

  /// Of a command that is newer than the gate.
  @Test func anUnknownVerbIsNamed() throws {
    let refusal = #expect(throws: ControlRefusal.self) {
      try Self.parse(Array(#"{"command":"registry","verb":"no-such-verb","arguments":{}}"#.utf8))
    }
    #expect(
      try #require(refusal).message
        == "the running gate knows no order no-such-verb: restart it, so that it is of this version")
  }

  /// A refusal goes to a terminal.
  @Test func refusalEscapesWhatItNames() throws {
    let refusal = #expect(throws: ControlRefusal.self) {
      try Self.parse(Array(#"{"command":"\u001b[2J"}"#.utf8))
    }
    #expect(try #require(refusal).message.utf8.allSatisfy { $0 >= 0x20 })
  }

  private static func parse(_ line: [UInt8]) throws(ControlRefusal) -> ControlRequest {
    try ControlRequest(parsing: line.span)
  }
}
