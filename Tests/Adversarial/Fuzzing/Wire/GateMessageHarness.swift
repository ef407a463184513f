/// What a gate says in `portcullis.v1`, as an app's side of the session reads it: the same object that our strict reader
/// of JSON finds, and one more that counts or none.
internal import JSON
internal import PortcullisProtocol

@testable import PortcullisClient

enum GateMessageHarness {
  private static let depthLimit = 32

  static func check(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    let message = GateText(bytes)
    if let object = (try? JSONValue(parsing: bytes.span, depthLimit: depthLimit))?.object {
      try compare(bytes, message, object)
    }
    try count(bytes, message)
    try remember(bytes)
    return message.content == .unknown ? .refused : .accepted
  }

  /// As what was saved of a session or a key: what is taken in is written as it was read.
  private static func remember(_ bytes: [UInt8]) throws(BrokenProperty) {
    if let session = try? RememberedSession(saved: bytes) {
      try require((try? RememberedSession(saved: session.bytes)) == session, "another session when written")
    }
    if let record = try? AppKeyRecord(saved: bytes) {
      try require((try? AppKeyRecord(saved: record.bytes)) == record, "another key when written")
    }
  }

  private static func compare(
    _ bytes: [UInt8], _ message: GateText, _ object: JSONObject
  ) throws(BrokenProperty) {
    guard let json = JSONText(object: bytes) else { throw BrokenProperty("an object that is not read") }
    for member in object.members {
      guard let raw = json.raw(member.name) else { throw BrokenProperty("no member \(member.name)") }
      try require(
        (try? JSONValue(parsing: raw.span, depthLimit: depthLimit)) == member.value, "another value")
      try require(json.string(member.name) == member.value.string, "another string")
      try require(json.boolean(member.name) == member.value.boolean, "another boolean")
      if let text = member.value.string {
        let quoted = JSONText.quoted(text)
        try require(
          (try? JSONValue(parsing: quoted.span, depthLimit: 1)) == member.value, "another string when written"
        )
      }
    }
    let kind = object[MemberName.type]?.string.flatMap(MessageKind.init)
    let isUncounted = [.session, .ack, .gap, .closing, .approvals, .otp].contains(kind)
    let isAgain = object[MemberName.type]?.string != nil && object[MemberName.again]?.boolean == true
    try require(message.isCounted == !(isUncounted || isAgain), "counted otherwise")
  }

  /// In a session that goes on: what it makes of the message, and of its answer.
  private static func count(_ bytes: [UInt8], _ message: GateText) throws(BrokenProperty) {
    var machine = SessionMachine(
      policy: GameOptions(
        triesFirstAgain: true, beginsAnew: true, givesUpWithSession: false,
        inputPatience: nil),
      client: ClientDescription(), seed: 1)
    machine.begin(now: 0)
    machine.opened(subprotocol: SessionRequest.subprotocol, now: 0)
    machine.receive(text: greeting, now: 0)
    try require(machine.isAttached, "not attached")
    machine.receive(text: bytes, now: 0)
    if case .gap(_, let next) = message.content, next > 0 {
      try require(machine.arrivals.received == next - 1, "a gap leads elsewhere")
    } else {
      try require(machine.arrivals.received == (message.isCounted ? 1 : 0), "counted otherwise in a session")
    }
  }

  private static let greeting = Array(
    #"{"type":"session","id":"AAECAwQFBgcICQoLDA0ODw","resumed":false,"received":0}"#.utf8)
}
