/// The registry's answers byte for byte, as a peer gets them: what is random stands as `$1`, `$2` by its first appearance.
///
/// `UPDATE_GOLDEN=1` writes them anew; the difference is then to be read like code.
import Bytes
import Crypto
import DeviceWire
import Foundation
import JSON
import Kit
import PortcullisProtocol
import System
import Testing
import Time

@testable import Registry

@Suite struct GoldenAnswerTests {
  @Test func answersAreAsTheyWere() throws {
    var tour = AnswerTour()
    try tour.devices()
    try tour.pairings()
    try tour.presence()
    try tour.approvals()
    try tour.codes()
    let path = "Tests/Unit/Trust/RegistryTests/Answers/answers.txt"
    if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] != nil {
      try Data(tour.text.utf8).write(to: Repository.folder.appending(path: path))
    }
    let kept = try Repository.text(path)
    let (was, now) = (kept.split(separator: "\n"), tour.text.split(separator: "\n"))
    for (line, (was, now)) in zip(was, now).enumerated() where was != now {
      Issue.record("line \(line + 1)\nwas \(was)\nis  \(now)")
    }
    #expect(was.count == now.count)
  }
}

/// One way through all verbs of operators and most calls of phones and services, and what each was answered.
struct AnswerTour {
  private(set) var text = ""
  private var names: [String: Int] = [:]

  // MARK: Ways

  mutating func devices() throws {
    let registry = try RegistryHarness()
    let part = DevicePart(registry)
    registry.settings.pins = [PublicKeyPin(bytes32(0x51))]
    let (phone, other) = (try TestPhone(), try TestPhone(hasApprovalKey: false, platform: .android))
    try note("enroll", part.enroll(phone, evidence: appKey(1)))
    try note("enroll android", part.enroll(other) { $0["name"] = #""Zo\u00eb \u2019 <phone>""# })
    try note("enroll again", part.enroll(phone, evidence: appKey(1)))
    for verb in ["devices-confirm", "devices-assign"] {
      try note(verb, part.order(verb, #"{"id":"\#(phone.required.text)","subject":"frodo \"b\""}"#))
    }
    let id = #"{"id":"\#(try phone.required.text)"}"#
    try note("devices-confirm again", part.order("devices-confirm", id))
    try note(
      "devices-rename", part.order("devices-rename", #"{"id":"\#(phone.required.text)","name":"Fr\u00f3do"}"#)
    )
    try note(
      "devices-except",
      part.order(
        "devices-except",
        #"{"id":"\#(phone.required.text)","until":\#(registry.now.seconds + 3600),"reason":"old","lacks":["level"]}"#
      ))
    try note("attest", part.attest(phone, by: appKey(1)))
    try note("attest failed", part.fail(phone))
    let token = try part.token(phone)
    try note("token", token)
    try note("self", part.read(token["device_token"] ?? token["token"] ?? ""))
    try note(
      "heartbeat", part.beat(token["device_token"] ?? token["token"] ?? "", signedBy: phone, rooted: true))
    try note("rotate", part.rotate(phone, to: try TestPhone(), evidence: appKey(1)))
    try note("devices-list", part.order("devices-list", #"{"limit":10}"#))
    try note("devices-list first", part.order("devices-list", #"{"limit":1}"#))
    try note("devices-show", part.order("devices-show", id))
    try note("devices-show unknown", part.order("devices-show", #"{"id":"\#(DeviceID.test(9).text)"}"#))
    try note("devices-browse", part.order("devices-browse", #"{"limit":10}"#))
    try note("devices-browse first", part.order("devices-browse", #"{"limit":1}"#))
    try note("devices-browse text", part.order("devices-browse", #"{"limit":10,"text":"fr\u00f3"}"#))
    try note(
      "devices-names",
      part.order("devices-names", #"{"ids":["\#(phone.required.text)"],"keys":["\#(appKey(1).base64)"]}"#))
    try note("devices-look", part.order("devices-look", id))
    try note("devices-rotate-token-keys", part.order("devices-rotate-token-keys", "{}"))
    try note("devices-revoke", part.order("devices-revoke", id))
    try note("devices-revoke again", part.order("devices-revoke", id))
    try note("audit-list", part.order("audit-list", #"{"limit":50}"#))
    try note("audit-export", part.order("audit-export", #"{"after":0}"#))
    try note("audit-search", part.order("audit-search", #"{"limit":3}"#))
    try note("audit-search event", part.order("audit-search", #"{"limit":3,"event":"device_revoked"}"#))
    try note("audit-verify", part.order("audit-verify", "{}"))
    try note("devices-forget", part.order("devices-forget", id))
    try note("audit-prune", part.order("audit-prune", #"{"before":1}"#))
  }

  mutating func pairings() throws {
    let part = try PairingPart()
    let devices = DevicePart(part.registry)
    try note("pair-open", devices.order("pair-open", #"{"subject":"frodo","name":"Kitchen"}"#))
    let phone = try part.revealed()
    let uri = phone.uri.pairingID
    try note("pair-status", part.status(uri))
    try note("pair-browse", devices.order("pair-browse", "{}"))
    let device = try devices.order("devices-list", #"{"limit":1}"#)
    let id = device.value.array?.first?.object?["device_id"]?.string ?? ""
    try note("devices-look in pairing", devices.order("devices-look", #"{"id":"\#(id)"}"#))
    try note("pair-confirm wrong", part.confirm(uri, phone.wrongDigits))
    try note("pair-confirm", part.confirm(uri, phone.digits))
    try note("pair-status confirmed", part.status(uri))
    try note("pair-burn", part.burn(part.open().pairingID))
  }

  mutating func presence() throws {
    let part = DevicePart(try RegistryHarness())
    let phone = try part.activePhone("frodo")
    let desktop = try part.desktop(site: "Hall")
    try note("presence asked", part.ask(desktop, about: phone.required))
    try note("presence proved", part.prove(phone, to: desktop, rssi: "-50"))
    try note("services-list", part.order("services-list", "{}"))
    try note("services-rotate", part.order("services-rotate", #"{"name":"reception"}"#))
    try note("services-revoke", part.order("services-revoke", #"{"name":"reception"}"#))
    try note("services-revoke again", part.order("services-revoke", #"{"name":"reception"}"#))
  }

  mutating func approvals() throws {
    let part = try ApprovalPart(
      policy:
        #"{"rules":[{"match":{"operation":"mud.kick"},"factors":["operator"]}],"DEFAULT":{"lease":{"ttl_s":60,"uses":2}}}"#
    )
    let service = try part.service()
    let phone = try part.phone(of: "frodo")
    let lease = #","lease":{"ttl_s":60,"uses":2}"#
    let asked = try part.ask(service, text: "Promote <b>\\\"Gandalf\\\"?", lease)
    try note("approval asked", asked)
    try note("approval shown", part.show(asked.id, service))
    try note("approvals of a phone", part.list(phone))
    try note("approvals-look", part.order("approvals-look", #"{"id":"\#(asked.id)"}"#))
    try note("approval voted", part.vote(phone, on: asked))
    try note("approval voted again", part.vote(phone, on: asked))
    let shown = try part.show(asked.id, service)
    try note("approval approved", shown)
    if let lease = shown.lease {
      try note("lease used", part.use(lease, service, as: "one"))
      try note("lease used again", part.use(lease, service, as: "one"))
    }
    let own = try part.order(
      "approvals-request", #"{"operation":"mud.kick","target":{"who":"Gollum"},"text":"Kick him"}"#, uid: 1000
    )
    try note("approvals-request", own)
    let id = #"{"id":"\#(own.id)"}"#
    try note("approvals-list", part.order("approvals-list", "{}"))
    try note("approvals-show", part.order("approvals-show", id))
    try note("approvals-browse", part.order("approvals-browse", #"{"limit":10}"#))
    try note("approvals-browse pending", part.order("approvals-browse", #"{"limit":10,"pending":1}"#))
    try note("approvals-look operator", part.order("approvals-look", id))
    try note("approvals-approve", part.order("approvals-approve", id))
    let others = try ["deny", "cancel"].map { verb in
      let asked = try part.order(
        "approvals-request", #"{"operation":"mud.kick","target":{"who":"\#(verb)"},"text":"Kick him"}"#,
        uid: 1000)
      return (verb, asked.id)
    }
    for (verb, id) in others {
      try note("approvals-\(verb)", part.order("approvals-\(verb)", #"{"id":"\#(id)"}"#))
    }
    let reported = try part.ask(service, requester: "orc")
    try note("approval reported", part.vote(phone, on: reported, .report))
    try note("bars-list", part.order("bars-list", "{}"))
    try note("bars-lift", part.order("bars-lift", #"{"service":"mud","requester":"orc","subject":"frodo"}"#))
  }

  mutating func codes() throws {
    let part = try CodePart()
    let phone = try part.phone()
    let asked = try part.challenge()
    try note("code asked", asked)
    try note("codes of a phone", part.list(phone))
    let issued = try part.issue(phone, asked)
    try note("code issued", issued)
    let code = try #require(issued["otp_code"])
    try note("code wrong", part.verify(asked, code == "000000" ? "000001" : "000000"))
    try note("code right", part.verify(asked, code))
  }

  // MARK: Notes

  private mutating func note(_ label: String, _ said: @autoclosure () throws -> Said) throws {
    let said = try said()
    note(label, said.json, said.code, said.step)
  }

  private mutating func note(_ label: String, _ answer: @autoclosure () throws -> Answer) throws {
    let answer = try answer()
    note(label, answer.json, answer.code, answer.step)
  }

  private mutating func note(_ label: String, _ json: [UInt8], _ code: RefusalCode?, _ step: String?) {
    let said =
      code.map { "refused \($0.rawValue) \(step ?? "")" } ?? named(String(decoding: json, as: UTF8.self))
    text += "\(label): \(said)\n"
  }

  /// With each text that is long and of the letters of random names called by a number, and digits alone by `#`. A text may
  /// hold JSON itself, whose quotes are escaped.
  private mutating func named(_ json: String) -> String {
    var named = ""
    for (index, piece) in json.split(separator: "\"", omittingEmptySubsequences: false).enumerated() {
      if index > 0 { named += "\"" }
      let isEscaped = piece.hasSuffix("\\")
      named += name(of: String(isEscaped ? piece.dropLast() : piece)) + (isEscaped ? "\\" : "")
    }
    return named
  }

  private mutating func name(of piece: String) -> String {
    if (4...6).contains(piece.utf8.count), piece.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      return "#"
    }
    guard piece.utf8.count >= 20, piece.utf8.allSatisfy(Self.isOfNames) else { return piece }
    let number = names[piece] ?? names.count + 1
    names[piece] = number
    return "$\(number)"
  }

  private static func isOfNames(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "="), UInt8(ascii: "/"),
      UInt8(ascii: "+"),
      UInt8(ascii: ":"), UInt8(ascii: "?"), UInt8(ascii: "&"), UInt8(ascii: "%"):
      true
    default: false
    }
  }
}
