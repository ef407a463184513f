/// What a scrape says, by itself and against docs/metrics.md.
import Foundation
import Glibc
import Kit
import Metrics
import PortcullisProtocol
import Registry
import System
import TLS
import Testing

@testable import Admission
@testable import Gateway
@testable import Telemetry
@testable import TelnetWire

@Suite struct GateMetricsTests {
  private static let checks = [
    GateMetrics.Check(name: "listening", isOK: true), GateMetrics.Check(name: "game", isOK: false),
  ]

  private func lines(loops: Int = 1, version: String = "0.0.0") throws -> [Substring] {
    let harness = try LoopHarness(loops: loops)
    let text = GateMetrics(harness.shared, version: version).text(checks: Self.checks)
    return String(decoding: text, as: UTF8.self).split(separator: "\n")
  }

  private func series(_ lines: [Substring]) -> [Substring] {
    lines.filter { !$0.hasPrefix("#") }.map { $0[..<($0.lastIndex(of: " ") ?? $0.endIndex)] }
  }

  @Test func eachFamilyHasOneHeadAndItsSeriesBehindIt() throws {
    var family = ""
    var seen: Set<Substring> = []
    for line in try lines() {
      let words = line.split(separator: " ", maxSplits: 3)
      if words[0] == "#" {
        if words[1] == "HELP" {
          family = String(words[2])
          #expect(seen.insert(words[2]).inserted, "\(family) twice")
          #expect(words[3].hasSuffix("."))
        } else {
          #expect(words[1] == "TYPE" && words[2] == family)
        }
      } else {
        #expect(line.hasPrefix(family), "\(line) behind \(family)")
      }
    }
    #expect(seen.count == GateMetrics.rows.count)
  }

  @Test func noSeriesComesTwice() throws {
    let all = series(try lines(loops: 4))
    #expect(Set(all).count == all.count)
  }

  @Test func fourLoopsHaveFewSeries() throws {
    #expect(series(try lines(loops: 4)).count < 800)
  }

  /// Of a fixed set each series is there before anything has happened.
  @Test func allIsThereFromTheStart() throws {
    let harness = try LoopHarness()
    let found = harness.metrics
    for code in RefusalCode.allCases {
      #expect(found["portcullis_refusals_total{code=\"\(code.rawValue)\"}"] == 0)
    }
    for (series, value) in found {
      let counts = series.contains("_total") && !series.hasPrefix("process_") || series.contains("_bucket{")
      if counts { #expect(value == 0, "\(series)") }
    }
    for series in [
      "sessions{state=\"attached\",credential=\"assertion\"}", "connections{state=\"session\"}",
      "admissions_total{result=\"admitted\"}", "approvals_decided_total{result=\"denied\"}",
      "devices{state=\"active\"}", "devices_store_bytes", "codes_ended_total{result=\"passed\"}",
      "telnet_options_total{option=\"gmcp\"}",
      "rate_limited_total{limit=\"handshake_rate\"}",
      "tls_handshake_failures_total{reason=\"alert\"}",
      "tls_handshakes_total{version=\"1.3\",resumed=\"false\"}",
    ] {
      #expect(found["portcullis_" + series] == 0, "\(series)")
    }
    // Nobody has asked the checks.
    #expect(found["portcullis_game_up"] == nil)
  }

  @Test func checksAndVersionAreSaid() throws {
    let lines = try lines(version: "1.2.3-\"x\"")
    #expect(lines.contains("portcullis_check_ok{check=\"listening\"} 1"))
    #expect(lines.contains("portcullis_check_ok{check=\"game\"} 0"))
    #expect(lines.contains("portcullis_game_up 0"))
    #expect(lines.contains(#"portcullis_build_info{version="1.2.3-\"x\""} 1"#))
  }

  @Test func theOrderOfOptionsIsThatOfTheirBits() {
    for (index, option) in TelnetOption.allCases.enumerated() {
      var options = TelnetOptionSet()
      options.insert(option)
      #expect(options.bits == 1 << UInt16(index))
    }
  }

  /// docs/metrics.md has a row for each family, of the right kind, and no other.
  @Test func theDocumentNamesEachFamily() throws {
    let text = try Repository.text("docs/metrics.md")
    var documented: [String: String] = [:]
    for line in text.split(separator: "\n")
    where line.hasPrefix("| `process_") || line.hasPrefix("| `portcullis_") {
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      let name = cells[0].split(separator: "`")[0].prefix { $0 != "{" }
      #expect(documented.updateValue(cells[1], forKey: String(name)) == nil, "\(name) twice")
    }
    let families = Dictionary(
      uniqueKeysWithValues: GateMetrics.rows.map { ($0.family.name, $0.family.kind.rawValue) })
    #expect(documented == families)
  }
}

@Suite struct CounterWordTests {
  /// The cause decides what is counted; the log's word is made from it, whatever it is.
  @Test(arguments: [
    (HandshakeCause.timeout, HandshakeFailure.timeout, "timeout"),
    (.memory, .memory, "memory"), (.tls(.memory), .memory, "no memory"),
    (.proxyHeader(.timeout), .proxyHeader, "proxy_header_timeout"),
    (.proxyHeader(.cut), .proxyHeader, "proxy_header_cut"),
    (.proxyHeader(.peerClosed), .closed, "the peer closed"), (.proxyHeader(.vanished), .closed, "recv"),
    (
      .proxyHeader(.receive(SystemError("recv", ECONNRESET))), .closed, "recv: Connection reset by peer"
    ),
    (.tls(.peerClosed), .closed, "the peer closed"),
    (.tls(.receive(SystemError("read", ECONNRESET))), .closed, "read: Connection reset by peer"),
    (.tls(.excess(.helloTooDear)), .excess, "tls_hello_too_dear"),
    (.tls(.alert(reason: "certificate unknown")), .alert, "certificate unknown"),
    (.tls(.protocol(reason: "recv alert timeout tls_")), .protocol, "recv alert timeout tls_"),
  ])
  func handshakeFailures(cause: HandshakeCause, failure: HandshakeFailure, step: String) {
    #expect(cause.failure == failure)
    #expect(cause.step == step)
  }

  @Test func aRefusalNamesItsLimit() {
    for limit in RateLimit.allCases {
      let refusal = Refusal.limited(limit)
      #expect(refusal.code == .rateLimited && refusal.limit == limit && refusal.step == limit.word)
    }
    let stranger = Refusal.limited(.challengeRate, step: "stranger_rate")
    #expect(stranger.limit == .challengeRate && stranger.step == "stranger_rate")
    // The registry's limits are counted as its own, whatever it calls them.
    #expect(Refusal(RegistryRefusal(.rateLimited, "device_rate")).limit == .registry)
    #expect(Refusal(RegistryRefusal(.notFound, "device_rate")).limit == nil)
    #expect(Refusal(.notFound, step: "device_rate").limit == nil)
  }

  @Test func wordsAreLabels() {
    let words =
      HandshakeFailure.allCases.map(\.word) + RateLimit.allCases.map(\.word)
      + ConnectionState.allCases.map(\.word)
      + SessionCounts.credentials
    for word in words { #expect(word.allSatisfy { $0.isLowercase || $0 == "_" }, "\(word)") }
  }
}
