import Charsets
import Foundation
import Kit
import Testing

@testable import Configuration

/// What is derived from the table says the same as the table.
@Suite struct DocumentTests {
  /// To write the file anew after a change of the table: `UPDATE_EXAMPLE=1 swift test --filter
  /// DocumentTests`.
  @Test func theExampleFilesFollowTheTable() throws {
    for (name, text) in [
      ("portcullis.env.example", SettingTable.exampleFile()),
      ("all-settings.env", SettingTable.allSettingsFile()),
    ] {
      let file = Repository.folder.appending(path: "config/\(name)")
      if ProcessInfo.processInfo.environment["UPDATE_EXAMPLE"] == "1" {
        try Data(text.utf8).write(to: file)
      }
      #expect(try Data(contentsOf: file) == Data(text.utf8))
    }
  }

  /// Between its markers the page has the table as it is; `UPDATE_EXAMPLE=1` puts it there.
  @Test func theSettingsPageFollowsTheTable() throws {
    let file = Repository.folder.appending(path: "docs/settings.md")
    func section(_ name: String, of text: String) throws -> Range<String.Index> {
      let (begin, end) = ("<!-- \(name):begin -->\n", "<!-- \(name):end -->")
      let start = try #require(text.range(of: begin)).upperBound
      return try start..<#require(text.range(of: end, range: start..<text.endIndex)).lowerBound
    }
    var text = try String(contentsOf: file, encoding: .utf8)
    for (name, rows) in [
      ("settings", SettingTable.markdownTable()), ("former", SettingTable.markdownOfFormerNames()),
    ] {
      let table = "\n\(rows)\n"
      if ProcessInfo.processInfo.environment["UPDATE_EXAMPLE"] == "1" {
        text.replaceSubrange(try section(name, of: text), with: table)
        try Data(text.utf8).write(to: file)
      }
      #expect(text[try section(name, of: text)] == table)
    }
  }

  @Test func theExampleFileWithItsDefaultsIsTheDefault() throws {
    let uncommented = SettingTable.allSettingsFile().split(separator: "\n", omittingEmptySubsequences: false)
      .map { line in
        let isDefault =
          line.hasPrefix("#") && !line.hasPrefix("# ") && line.contains("=") && !line.hasSuffix("=")
        return isDefault ? String(line.dropFirst()) : String(line)
      }
    let loaded = try load(file: uncommented.joined(separator: "\n"))
    #expect(try loaded.configuration.withoutOrigin == load().configuration.withoutOrigin)
    let stated = loaded.settings.filter { $0.source != .standard && $0.source != .environment }.count
    #expect(stated == SettingTable.settings.filter { $0.defaultText != nil }.count)
  }

  @Test func everySettingIsInBothDocuments() {
    let example = SettingTable.allSettingsFile()
    let table = SettingTable.markdownTable()
    let first = SettingTable.exampleFile().split(separator: "\n").filter {
      $0.hasPrefix("#") && !$0.hasPrefix("# ")
    }
    #expect(first.count == 12 && first.allSatisfy { example.contains("\n\($0)\n") })
    let former = SettingTable.markdownOfFormerNames()
    for setting in SettingTable.former {
      let isNamed = SettingTable.current.contains { $0.name == setting.successor }
      #expect(isNamed && former.contains("| `\(setting.name)` | `\(setting.successor ?? "")` |"))
      #expect(!example.contains(setting.name) && !table.contains("`\(setting.name)`"))
    }
    for setting in SettingTable.current {
      #expect(example.contains("\n#\(setting.name)="))
      #expect(table.contains("| `\(setting.name)` |"))
      #expect(!setting.reason.contains("|") && setting.reason.hasSuffix("."))
      #expect((setting.defaultText == nil) != (setting.defaultNote == nil), "\(setting.name)")
    }
    #expect(Set(SettingTable.settings.map(\.name)).count == SettingTable.settings.count)
    for line in example.split(separator: "\n") { #expect(line.count <= 110) }
  }

  /// docs/settings.md, in their order, and what came with least privilege.
  @Test func theTableHasTheNamesOfTheContract() {
    let names = """
      REQUIRE_APP_AUTH APPATTEST_BUNDLE_ID APPATTEST_TEAM_ID ALLOW_MTLS_FALLBACK MTLS_CLIENT_CA_PATH
      ATTESTED_KEYS_PATH ALLOWED_ORIGINS NODE_ENV LISTEN BACKEND BACKEND_PROXY_PROTOCOL TLS_CERT_PATH
      TLS_KEY_PATH PORTCULLIS_ENV APPATTEST_APP_IDS APPATTEST_ENVIRONMENT APPATTEST_ROOT_CA_PATH
      APPATTEST_ALLOWED_CATEGORIES APPATTEST_ALLOWED_BUNDLE_VERSIONS APPATTEST_REQUIRE_LAUNCH_INFO
      RECEIPTS_PATH WORKERS WS_MESSAGE_TYPE TRUSTED_PROXIES LISTEN_PROXY_PROTOCOL LOG_LEVEL LOG_FORMAT
      KEYSTORE_DURABILITY KEYSTORE_MAX_KEYS CONTROL_SOCKET RUN_AS PORTCULLIS_SANDBOX TLS_HANDSHAKE_TIMEOUT HANDSHAKE_RATE
      HTTP_HEAD_TIMEOUT HTTP_HEAD_MAX_BYTES HTTP_BODY_TIMEOUT HTTP_BODY_MAX_BYTES HTTP_IDLE_TIMEOUT
      BACKEND_CONNECT_TIMEOUT WS_MAX_FRAME_BYTES WS_MAX_MESSAGE_BYTES QUEUE_MAX_BYTES
      WRITE_STALL_TIMEOUT PING_INTERVAL PONG_TIMEOUT MAX_CONNECTIONS MAX_PENDING
      MAX_CONNECTIONS_PER_ADDRESS MAX_SESSIONS_PER_KEY CHALLENGE_RATE REGISTER_RATE DRAIN_TIMEOUT
      REGISTER_CHALLENGE_TTL
      GAME_CHARSET GAME_SGA GAME_COMPRESSION GAME_KEEPALIVE SUBPROTOCOLS GMCP_AGAIN SESSION_RESUME_FOR
      DEVICE_PSEUDONYM_KEY_PATH INPUT_RATE SESSION_BUFFER SESSION_BUFFERS_TOTAL MAX_DETACHED
      DEVICES_PATH PUBLIC_URL DEVICES_RETENTION DEVICE_APPROVAL DEVICE_MIN_LEVEL DEVICES_PER_SUBJECT GATE_DEVICES
      TOKEN_AUDIENCES APPROVAL_POLICY ASSURANCE_POLICY APPROVALS_SOCKET APPROVALS_GROUP APPROVAL_OPERATORS
      TLS_NEXT_KEY_PATH PINS_FORCE PRESENCE_MAX_AGE PRESENCE_RSSI_MIN DEVICE_RATE SERVICE_RATE TLS_MIN_VERSION
      ANDROID_APPS ANDROID_ROOTS_PATH ANDROID_REVOCATION_PATH ANDROID_REVOCATION_MAX_AGE
      PLAY_INTEGRITY_KEYS_PATH PLAY_INTEGRITY_MIN
      RISK_POLICY GEO_COUNTRY_PATH GEO_ASN_PATH GEO_PATH HTTP_TIMEOUT SOCKET_GROUP
      OTP_TTL OTP_ATTEST_MAX_AGE SERVICE_STORE_PER_DAY
      HOT_RESTART HOT_RESTART_MAX_SESSIONS WS_COMPRESSION WS_COMPRESSION_WINDOWS
      ADMIN_LISTEN ADMIN_SOCKET_GROUP ADMIN_METRICS_TOKEN ADMIN_OPERATORS ADMIN_HOSTS ADMIN_TOKENS_PATH READY_NEEDS
      """
    #expect(
      Set(names.split(whereSeparator: \.isWhitespace).map(String.init))
        == Set(SettingTable.settings.map(\.name)))
  }

  @Test func theReportInTextIsAFileThatSaysTheSame() throws {
    let loaded = try load(
      adding: [("APPATTEST_ALLOWED_BUNDLE_VERSIONS", "1.0 beta \"two\" \\ $x,#3"), ("LOG_LEVEL", "debug")])
    let report = ConfigurationReport.text(loaded)
    #expect(report.contains("\nLOG_LEVEL=debug  # environment\n"))
    #expect(report.contains("\nLOG_FORMAT=text  # default\n"))
    #expect(report.contains("\n# TLS_CERT_PATH is not set: a certificate"))
    let again = try load([], file: report)
    // Computed values are stated in the report; what they stand for is the same.
    #expect(loaded.configuration.reloadDifferences(to: again.configuration).needRestart == ["WORKERS"])
    #expect(loaded.configuration.attest == again.configuration.attest)
    #expect(loaded.configuration.limits == again.configuration.limits)
    #expect(report.split(separator: "\n").count == SettingTable.current.count)
  }

  @Test func theReportInJSON() throws {
    struct Line: Decodable {
      let name: String
      let value: String?
      let source: String
      let reloadable: Bool
      let line: Int?
      let file: String?
      let note: String?
    }
    let loaded = try load(file: "\nLOG_LEVEL=debug\n", descriptors: 1024)
    let lines = try ConfigurationReport.json(loaded).split(separator: "\n").map {
      try JSONDecoder().decode(Line.self, from: Data($0.utf8))
    }
    #expect(lines.map(\.name) == SettingTable.current.map(\.name))
    let level = lines.first { $0.name == "LOG_LEVEL" }
    #expect(
      level?.value == "debug" && level?.source == "file" && level?.line == 2 && level?.file == "gate.env")
    #expect(level?.reloadable == true)
    let connections = lines.first { $0.name == "MAX_CONNECTIONS" }
    #expect(connections?.value == "288" && connections?.source == "default" && connections?.note != nil)
    let detached = lines.first { $0.name == "MAX_DETACHED" }
    #expect(detached?.value == "192" && detached?.note == "10000 needs more descriptors")
  }

  @Test func theFileSystem() throws {
    let files = SystemFiles()
    #expect(files.kind(of: #filePath) == .file)
    #expect(files.kind(of: Repository.folder.path()) == .directory)
    #expect(files.kind(of: "/dev/null") == .other)
    #expect(files.kind(of: "/nowhere/at/all") == nil)
    #expect(files.has(.utf8) && files.has(.koi8R) && files.has(.gbk))
    #expect(files.isReadable(#filePath) && !files.isReadable("/nowhere/at/all"))
    let contents = try files.contents(of: #filePath, limit: 1 << 20)
    #expect(contents == [UInt8](try Data(contentsOf: URL(filePath: #filePath))))
    #expect(try files.contents(of: #filePath, limit: 9).count == 10)
    #expect(throws: (any Error).self) { try files.contents(of: "/nowhere/at/all", limit: 9) }
  }

  @Test func theProcess() {
    #expect(ProcessContext.processors() >= 1)
    #expect(ProcessContext.descriptorLimit() >= 1)
    let path = ProcessContext.environment().first { $0.0 == "PATH" }?.1
    #expect(path == ProcessInfo.processInfo.environment["PATH"])
  }
}
