/// What docs/devices-messages.md and docs/risk.md show is what is judged.
import Bytes
import Crypto
import DeviceWire
import Foundation
import Kit
import Testing
import Vectors

@Suite struct DocumentTests {
  private static func blocks(_ name: String = "devices-messages.md") throws -> [[UInt8]] {
    let text = try Repository.text("docs/\(name)")
    return text.components(separatedBy: "```json\n").dropFirst().map { block in
      Array((block.components(separatedBy: "\n```").first ?? "").utf8)
    }
  }

  @Test func theMessageIsAccepted() throws {
    let messages = try Self.blocks().filter {
      String(decoding: $0, as: UTF8.self).contains(#""kind": "message""#)
    }
    #expect(messages.count == 1)
    for message in messages {
      let judged = try JudgedLine(message, P256Verifier())
      guard case .accept(let facts) = judged.verdict else {
        Issue.record("\(judged.verdict.map { "\($0)" } ?? "of no kind")")
        continue
      }
      #expect(facts.first { $0.name == "sha256" }?.value.hasPrefix("6517dc67") == true)
    }
  }

  @Test func theRecordedRequestIsAnswered() throws {
    let requests = try Self.blocks("risk.md").filter {
      String(decoding: $0, as: UTF8.self).contains(#""kind": "risk""#)
    }
    #expect(requests.count == 1)
    for request in requests {
      guard case .accept(let facts) = try JudgedLine(request, P256Verifier()).verdict else {
        Issue.record("not accepted")
        continue
      }
      let reasons = "rooted, impossible_travel, asn_change, country_change, attest_failed"
      #expect(facts.first?.value == reasons)
    }
  }

  @Test func theSummaryIsCanonical() throws {
    let summaries = try Self.blocks().filter {
      String(decoding: $0, as: UTF8.self).hasPrefix(#"{"created_at""#)
    }
    #expect(summaries.count == 1)
    for bytes in summaries {
      let summary = try Summary(canonical: bytes.span)
      #expect(summary.hash.hex.hasPrefix("e961838e"))
    }
  }
}
