/// Settings that have other names now: what was written goes on to hold, and is told of once.
import Testing

@testable import Configuration

@Suite struct FormerNameTests {
  private static let devices =
    smallest + [
      ("DEVICES_PATH", "config/devices.db"), ("PUBLIC_URL", "https://mud.example"),
    ]

  @Test func oneTimeoutIsThree() throws {
    let limits = try load(adding: [("HTTP_TIMEOUT", "4s")]).configuration.limits
    #expect(limits.httpHeadTimeout == .seconds(4) && limits.httpBodyTimeout == .seconds(4))
    #expect(limits.httpIdleTimeout == .seconds(12))
    // As before, where nothing is stated.
    let standard = try load().configuration.limits
    #expect(standard.httpHeadTimeout == .seconds(10) && standard.httpIdleTimeout == .seconds(30))
  }

  @Test func aFormerNameHoldsAndIsToldOfOnce() throws {
    let loaded = try load(file: "HTTP_TIMEOUT=4s\nHTTP_BODY_TIMEOUT=1m\n")
    let limits = loaded.configuration.limits
    #expect(limits.httpBodyTimeout == .seconds(60) && limits.httpHeadTimeout == .seconds(4))
    #expect(
      loaded.warnings == [
        .formerName("HTTP_BODY_TIMEOUT", place: "gate.env:2", setting: "HTTP_TIMEOUT")
      ])
    #expect(
      loaded.warnings.first?.description
        == "HTTP_BODY_TIMEOUT (gate.env:2) is a former name and still holds: write HTTP_TIMEOUT instead "
        + "(docs/settings.md, \"Former names\")")
    // The report has it where it is stated, and nowhere else.
    #expect(ConfigurationReport.text(loaded).contains("\nHTTP_BODY_TIMEOUT=1m  # gate.env:2\n"))
    #expect(try !ConfigurationReport.text(load()).contains("HTTP_BODY_TIMEOUT"))
  }

  @Test(arguments: SettingTable.former.map(\.name)) func eachNamesTheOneToWrite(name: String) throws {
    let setting = try #require(SettingTable.setting(named: name))
    #expect(SettingTable.current.contains { $0.name == setting.successor })
    // Whatever else is wrong with it.
    let failure = #expect(throws: ConfigurationFailure.self) { try load(adding: [(name, "")]) }
    #expect(failure?.warnings.map(\.code) == ["former_name"])
  }

  @Test func aReloadTakesAFormerNameAndTheNewOne() throws {
    let old = try load(adding: [("HTTP_IDLE_TIMEOUT", "1m")]).configuration
    let new = try load(adding: [("HTTP_TIMEOUT", "20s")]).configuration
    #expect(old.reloadDifferences(to: new).applicable == ["HTTP_TIMEOUT", "HTTP_IDLE_TIMEOUT"])
    #expect(old.reloading(from: new).limits == new.limits)
  }

  // MARK: Groups

  @Test func oneGroupForBothSockets() throws {
    let sockets = [
      ("APPROVALS_SOCKET", "config/approvals.sock"), ("ADMIN_LISTEN", "unix:config/admin.sock"),
    ]
    let both = try load(Self.devices, adding: sockets + [("SOCKET_GROUP", "mud")]).configuration
    #expect(both.devices.approvalsSocket.group == "mud" && both.admin.socketGroup == "mud")
    #expect(both.admin.groupSetting == "SOCKET_GROUP")
    let apart = try load(
      Self.devices, adding: sockets + [("SOCKET_GROUP", "mud"), ("ADMIN_SOCKET_GROUP", "adm")]
    )
    .configuration
    #expect(apart.devices.approvalsSocket.group == "mud" && apart.admin.socketGroup == "adm")
    #expect(apart.admin.groupSetting == "ADMIN_SOCKET_GROUP" && apart.files.admin.socketGroup == "adm")
  }

  @Test func aGroupNeedsASocket() {
    let group = ("SOCKET_GROUP", "mud")
    #expect(problems(adding: [group]).map(\.name) == ["SOCKET_GROUP"])
    #expect(problems(Self.devices, adding: [group]).map(\.name) == ["SOCKET_GROUP"])
    #expect(problems(Self.devices, adding: [group, ("APPROVALS_SOCKET", "config/a.sock")]).isEmpty)
    #expect(problems(adding: [group, ("ADMIN_LISTEN", "127.0.0.1:8444")]).map(\.name) == ["SOCKET_GROUP"])
    #expect(
      problems(adding: [group, ("ADMIN_LISTEN", "127.0.0.1:8444"), ("ADMIN_OPERATORS", "anna")]).isEmpty)
    #expect(problems(adding: [group, ("ADMIN_LISTEN", "unix:config/admin.sock")]).isEmpty)
  }

  // MARK: Databases

  private func files(_ names: String...) -> ImaginaryFiles {
    var files = ImaginaryFiles.complete
    files.kinds["/geo"] = .directory
    for name in names { files.kinds["/geo/" + name] = .file }
    return files
  }

  @Test func aFolderHasBothDatabases() throws {
    let geo = [("GEO_PATH", "/geo")]
    let all = files("GeoLite2-City.mmdb", "GeoLite2-Country.mmdb", "GeoLite2-ASN.mmdb")
    let both = try load(Self.devices, adding: geo, files: all).configuration.files
    #expect(
      both.countriesPath == "/geo/GeoLite2-Country.mmdb" && both.networksPath == "/geo/GeoLite2-ASN.mmdb")
    #expect(both.countriesSetting == "GEO_PATH" && both.networksSetting == "GEO_PATH")
    let one = try load(Self.devices, adding: geo, files: files("GeoLite2-City.mmdb")).configuration
    #expect(one.files.countriesPath == "/geo/GeoLite2-City.mmdb" && one.files.networksPath == nil)
    // What a reload finds there is taken over.
    let more = try load(Self.devices, adding: geo, files: all).configuration
    #expect(one.reloading(from: more).files.networksPath == "/geo/GeoLite2-ASN.mmdb")
  }

  @Test func aFolderThatIsNone() {
    let geo = [("GEO_PATH", "/geo")]
    #expect(problems(Self.devices, adding: geo).map(\.reason) == ["is not a folder"])
    #expect(
      problems(Self.devices, adding: geo, files: files()).map(\.reason) == [
        "names a folder without a database"
      ])
    var closed = files("GeoLite2-ASN.mmdb")
    closed.unreadable = ["/geo/GeoLite2-ASN.mmdb"]
    #expect(
      problems(Self.devices, adding: geo, files: closed).map(\.reason) == [
        "has a file that cannot be read: /geo/GeoLite2-ASN.mmdb"
      ])
    let beside = geo + [("GEO_ASN_PATH", "policy.json")]
    #expect(
      problems(Self.devices, adding: beside, files: files("GeoLite2-ASN.mmdb")).map(\.reason) == [
        "is set beside GEO_PATH"
      ])
  }
}
