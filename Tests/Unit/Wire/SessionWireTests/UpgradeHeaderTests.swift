/// The headers of the gate's own that an upgrade may carry.
import Bytes
import SessionWire
import TelnetWire
import Testing

@Suite struct UpgradeHeaderTests {
  private static let id = "AAECAwQFBgcICQoLDA0ODw"

  private func resume(_ value: String) throws(UpgradeHeaderError) -> ResumeRequest {
    try ResumeRequest(parsing: Array(value.utf8).span)
  }

  private func client(_ value: String) throws(UpgradeHeaderError) -> ClientHeader {
    try ClientHeader(parsing: Array(value.utf8).span)
  }

  private func encoded(_ object: String) -> String {
    Base64.encode(Array(object.utf8).span).replacing("+", with: "-").replacing("/", with: "_")
  }

  private func id(_ text: String) -> SessionID? { SessionID(text: Array(text.utf8).span) }

  // MARK: Identifiers

  @Test func identifiers() throws {
    let known = SessionID(InlineArray { UInt8($0) })
    #expect(known.text == Self.id && id(Self.id) == known)
    let high = SessionID(InlineArray { UInt8(0xFF - $0) })
    #expect(high.text == "__79_Pv6-fj39vX08_Lx8A" && id(high.text) == high && high != known)
    #expect("\(known)" == "a session's id")
  }

  @Test(arguments: [
    "", "AAECAwQFBgcICQoLDA0OD", "AAECAwQFBgcICQoLDA0ODwA", "AAECAwQFBgcICQoLDA0ODw==",
    "AAECAwQFBgcICQoLDA0O+w",
    "AAECAwQFBgcICQoLDA0O/w", "AAECAwQFBgcICQoLDA0ODx", " AECAwQFBgcICQoLDA0ODw", "AAECAwQFBgcICQoLDA0O=w",
  ])
  func badIdentifiers(text: String) {
    #expect(id(text) == nil)
  }

  // MARK: Resuming

  @Test func resuming() throws {
    let plain = try resume("\(Self.id);received=0")
    #expect(plain.id.text == Self.id && plain.received == 0 && !plain.wantsState)
    let state = try resume("\(Self.id);received=9007199254740992;state")
    #expect(state.received == 1 << 53 && state.wantsState)
  }

  @Test(arguments: [
    "", "ID", "ID;", "ID;received", "ID;received=", "ID;received=;state", "ID;received=-1", "ID;received=+1",
    "ID;received=01", "ID;received=1.0", "ID;received=0x1", "ID;received=9007199254740993",
    "ID;received=99999999999999999999", "ID;received=1;", "ID;received=1;State", "ID;received=1;state;state",
    "ID;received=1;state ", "ID; received=1", "ID;Received=1", "ID;state;received=1",
    "ID;received=1, ID;received=1",
    "x;received=1", "\u{0}ID;received=1", "ID;state",
  ])
  func badResuming(text: String) {
    let value = text.replacing("ID", with: Self.id)
    #expect(throws: UpgradeHeaderError.resume) { try resume(value) }
  }

  /// As two fields are joined.
  @Test func twice() {
    let value = "\(Self.id);received=0"
    #expect(throws: UpgradeHeaderError.resume) { try resume("\(value), \(value)") }
    #expect(throws: UpgradeHeaderError.resume) { try resume("\(value), ") }
    #expect(throws: UpgradeHeaderError.client) { try client("e30, e30") }
    #expect(throws: UpgradeHeaderError.client) { try client("e30, ") }
  }

  // MARK: The client

  @Test func clients() throws {
    var update = ClientUpdate()
    #expect(try client(encoded("{}")) == .update(update))
    update.name = ClientText(Array("App??>".utf8))
    update.columns = 80
    let object = #"{"name":"App??>","columns":80,"type":"client","later":[]}"#
    #expect(try client(encoded(object)) == .update(update))
    let unpadded = encoded(object).replacing("=", with: "")
    #expect(try client(unpadded) == .update(update))
    #expect(try client(encoded(#"{"name":""}"#)) == .refused(member: "name"))
  }

  @Test(arguments: ["[]", "", "{", #"{"name":"a","name":"b"}"#, "{\"a\":[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]}"])
  func badObjects(object: String) {
    #expect(throws: UpgradeHeaderError.client) { try client(encoded(object)) }
  }

  @Test func badValues() {
    // base64 of {"a":"??>"} with the other alphabet.
    for value in ["eyJhIjoiPz8+In0=", "e", "e30==", "{}", "e3 0"] {
      #expect(throws: UpgradeHeaderError.client, "\(value)") { try client(value) }
    }
  }

  /// At the limit and above it.
  @Test func limit() throws {
    let object = "{\"x\":\"" + String(repeating: "x", count: 760) + "\"}"
    let value = encoded(object)
    #expect(value.utf8.count == ClientHeader.limit)
    #expect(try client(value) == .update(ClientUpdate()))
    let longer = encoded(object + " ")
    #expect(throws: UpgradeHeaderError.client) { try client(longer) }
  }

  // MARK: Compression

  @Test func compressionIsDeclined() throws {
    #expect(try CompressionHeader(parsing: Array("off".utf8).span) == .off)
  }

  @Test(arguments: ["", "Off", "off;", "off, off", "on", "false", "offf", " off"])
  func badCompression(value: String) {
    #expect(throws: UpgradeHeaderError.compression) { try CompressionHeader(parsing: Array(value.utf8).span) }
  }
}
