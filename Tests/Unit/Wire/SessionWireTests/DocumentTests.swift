/// docs/sessions.md says what the code does: its examples are read or written as they stand there, and every word has
/// its row.
import Foundation
import JSON
import Kit
import PortcullisProtocol
import SessionWire
import TelnetWire
import Testing
import WebSocketWire

@Suite struct DocumentTests {
  private let page: String

  init() throws {
    page = try Repository.text("docs/sessions.md")
  }

  private func section(_ heading: String) throws -> Substring {
    let start = try #require(page.range(of: "\n## \(heading)\n")).upperBound
    let end = page[start...].range(of: "\n## ")?.lowerBound ?? page.endIndex
    return page[start..<end]
  }

  /// What stands in code spans that are objects.
  private func objects(in heading: String) throws -> [String] {
    try section(heading).matches(of: /`(\{[^`]+\})`/).map { String($0.1) }
  }

  @Test func messagesOfTheApp() throws {
    let examples = try objects(in: "From the app")
    #expect(examples.count == 5)
    for example in examples {
      let message = try AppMessage(parsing: Array(example.utf8).span)
      switch message {
      case .unknown, .refused: Issue.record("\(example): \(message)")
      default: break
      }
    }
  }

  @Test func messagesOfTheGate() throws {
    let examples = try objects(in: "From the gate")
    var written: [String] = []
    func write(_ body: (inout [UInt8]) -> Void) {
      var bytes: [UInt8] = []
      body(&bytes)
      written.append(String(decoding: bytes, as: UTF8.self))
    }
    func tell(_ event: TelnetEvent) {
      write { bytes in _ = Dialect.portcullis.tell(event, to: &bytes) }
    }
    write {
      GateMessage.session(
        GateMessage.Session(
          id: "AAECAwQFBgcICQoLDA0ODw",
          next: "dae9e97f4f83fd1534d570aee92abf8dab81dee1c371385ae8eebf2b9cf2124f", resumed: false,
          received: 0, resumeFor: 600, maxMessage: 65_536,
          kept: true, echo: false, gmcp: false, msdp: false), to: &$0)
    }
    tell(.prompt)
    tell(.echo(true))
    tell(.gmcp(package: Array("Char.Vitals".utf8), data: Array(#"{"hp":100}"#.utf8)))
    tell(.msdp(Array(#"{"HEALTH":"100"}"#.utf8)))
    tell(.mssp(Array(#"{"NAME":"Avalon","PLAYERS":"52"}"#.utf8)))
    write { GateMessage.ack(received: 32, to: &$0) }
    write { GateMessage.gap(OutgoingLedger.Gap(messages: 3, next: 118), to: &$0) }
    write { GateMessage.approvals(open: 2, to: &$0) }
    write { GateMessage.codeWanted(to: &$0) }
    write { GateMessage.closing(.takenOver, to: &$0) }
    write { GateMessage.ended(.gameClosed, to: &$0) }
    #expect(examples == written)
  }

  @Test func headers() throws {
    let resume = try #require(page.firstMatch(of: /Portcullis-Resume: (\S+)/))
    let request = try ResumeRequest(parsing: Array(resume.1.utf8).span)
    #expect(request.received == 117)
    let client = try #require(page.firstMatch(of: /Portcullis-Client: (\S+)/))
    guard case .update(let update) = try ClientHeader(parsing: Array(client.1.utf8).span) else {
      Issue.record("no update")
      return
    }
    #expect(update.name == ClientText(Array("Lantern".utf8)) && update.columns == 80 && update.rows == 24)
  }

  @Test func words() throws {
    let endings = try section("How connections and sessions end")
    for reason in EndedReason.allCases {
      #expect(endings.contains("\n| `\(reason.rawValue)` |"), "\(reason)")
    }
    for reason in ClosingReason.allCases {
      #expect(endings.contains("\n| \(reason.closeCode) `\(reason.rawValue)` |"), "\(reason)")
    }
    let subprotocols = try section("Subprotocols")
    for subprotocol in Subprotocol.allCases { #expect(subprotocols.contains("`\(subprotocol.rawValue)`")) }
    let known = try objects(in: "From the gate") + objects(in: "From the app")
    for kind in MessageKind.allCases {
      #expect(known.contains { $0.contains("\"type\":\"\(kind.rawValue)\"") })
    }
  }

  @Test func dialects() throws {
    for example in try objects(in: "Dialects") {
      let message = try Dialect.json.read(.text, Array(example.utf8).span)
      switch message {
      case .gmcp, .typed, .size: break
      default: Issue.record("\(example): \(message)")
      }
    }
  }
}
