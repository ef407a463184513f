/// A gate opened as `serve` opens it, and what reloads make of its settings.
import Assembly
import Configuration
import Gateway
import Glibc
import KeyStore
import Kit
import Logs
import Prompt
import Synchronization
import System
import TLS
import Testing

@testable import Serving

/// Each test is a process of its own: a thread that opens a gate gives up rights for good.
@Suite struct ServingTests {
  // MARK: Opening

  @Test func itServesUntilItIsClosedAndLetsGoOfAll() async {
    await #expect(processExitsWith: .success) {
      let scene = try Scene()
      let open = try scene.opened(scene.settings())
      #expect(open.gate.endpoints.count == 1)
      #expect(scene.hasSocket)
      open.beginStop()
      open.gate.stop()
      #expect(open.close())
      #expect(!scene.hasSocket)
      // The next one gets its store.
      let next = try scene.opened(scene.settings())
      next.gate.stop()
      #expect(next.close())
    }
  }

  @Test func aRefusedOpeningLeavesNothingThatServes() async {
    await #expect(processExitsWith: .success) {
      let scene = try Scene()
      let other = try Scene()
      let first = try other.opened(other.settings())
      let taken = try #require(first.gate.endpoints.first)
      #expect(throws: ExitStatus.unavailable) { try scene.opened(scene.settings(["LISTEN": "\(taken)"])) }
      #expect(!scene.hasSocket)
      let next = try scene.opened(scene.settings())
      next.gate.stop()
      #expect(next.close())
      first.gate.stop()
      #expect(first.close())
    }
  }

  @Test func aSecondGateOnOneStoreIsRefused() async {
    await #expect(processExitsWith: .success) {
      let scene = try Scene()
      let open = try scene.opened(scene.settings())
      #expect(throws: ExitStatus.self) { try scene.opened(scene.settings()) }
      // The first one is as it was.
      #expect(scene.hasSocket)
      open.gate.stop()
      #expect(open.close())
    }
  }

  // MARK: Reloading

  @Test func aReloadTakesWhatMayChangeAndNamesTheRest() async {
    await #expect(processExitsWith: .success) {
      let scene = try Scene()
      let open = try scene.opened(scene.settings())
      let next = scene.reload(open, scene.settings(["REGISTER_RATE": "7/m", "WORKERS": "3"]))
      #expect(next.limits.registerRate.count == 7)
      #expect(open.settings.last?.outcome == .taken(changed: ["REGISTER_RATE"], waiting: ["WORKERS"]))
      #expect(
        scene.lines.all.contains { $0.contains("event=reloaded") && $0.contains("needRestart=WORKERS") })
      open.gate.stop()
      #expect(open.close())
    }
  }

  @Test func aReloadOfAWrongFileChangesNothing() async {
    await #expect(processExitsWith: .success) {
      let scene = try Scene()
      let open = try scene.opened(scene.settings())
      let before = open.settings.configuration
      let next = scene.reload(open, scene.settings(["REGISTER_RATE": "7/m", "WORKERS": "none"]))
      #expect(next.limits.registerRate == before.limits.registerRate)
      guard case .refused(let problems)? = open.settings.last?.outcome else {
        Issue.record("not refused: \(String(describing: open.settings.last))")
        return
      }
      #expect(problems.contains { $0.contains("WORKERS=none") }, "\(problems)")
      #expect(
        scene.lines.all.contains { $0.contains("event=reload_failed") && $0.contains("result=unchanged") })
      // What is right again is taken.
      #expect(scene.reload(open, scene.settings(["REGISTER_RATE": "8/m"])).limits.registerRate.count == 8)
      open.gate.stop()
      #expect(open.close())
    }
  }

  @Test func aMissingFileChangesNothing() async {
    await #expect(processExitsWith: .success) {
      let scene = try Scene()
      let open = try scene.opened(scene.settings())
      let before = open.settings.configuration
      let reload = GateReload(open: open, file: scene.folder.file("none.env"), log: scene.log)
      #expect(reload.run(before).limits.registerRate == before.limits.registerRate)
      guard case .refused? = open.settings.last?.outcome else {
        Issue.record("not refused: \(String(describing: open.settings.last))")
        return
      }
      open.gate.stop()
      #expect(open.close())
    }
  }

  @Test func theCertificateMadeForARunOutlivesReloads() async {
    await #expect(processExitsWith: .success) {
      let scene = try Scene()
      let open = try scene.opened(scene.settings())
      let made = try #require(open.made)
      _ = scene.reload(open, scene.settings(["REGISTER_RATE": "7/m"]))
      #expect(open.made?.certificateChainPEM == made.certificateChainPEM)
      open.gate.stop()
      #expect(open.close())
    }
  }
}

/// A folder with the settings of a gate on loopback, and the lines that it logs.
private struct Scene {
  let folder: TestFolder
  let lines = Lines()
  var log: GateLog { GateLog(sink: lines) }

  init() throws { folder = try TestFolder("portcullis-serving-") }

  var hasSocket: Bool { unsafe access(folder.file("gate.sock"), F_OK) == 0 }

  /// Of a gate on loopback that nobody has to give rights to.
  func settings(_ changed: [String: String] = [:]) -> [String: String] {
    var settings = [
      "APPATTEST_APP_IDS": "ABCDE12345.org.example.game", "LISTEN": "127.0.0.1:0", "BACKEND": "echo:",
      "WORKERS": "2", "ATTESTED_KEYS_PATH": folder.file("keys.json"),
      "CONTROL_SOCKET": folder.file("gate.sock"),
      "PORTCULLIS_SANDBOX": "false",
    ]
    if geteuid() == 0 { settings["RUN_AS"] = "root" }
    return settings.merging(changed) { $1 }
  }

  private func file(_ settings: [String: String]) throws -> String {
    try folder.write("portcullis.env", settings.map { "\($0.key)=\($0.value)\n" }.sorted().joined())
  }

  func opened(_ settings: [String: String]) throws -> OpenGate {
    let path = try file(settings)
    let loaded = try Startup.configuration(file: path)
    let writer = LogWriter.prepared(output: Nowhere(), format: .text)
    var stored = StoredDescriptors.take(from: [], process: getpid())
    return try Opening(
      configuration: loaded.configuration, file: path, writer: writer, log: log,
      settings: SettingsInForce(loaded, file: path) {}
    ).open(&stored, nil)
  }

  func reload(_ open: OpenGate, _ settings: [String: String]) -> GateConfiguration {
    do {
      return GateReload(open: open, file: try file(settings), log: log).run(open.settings.configuration)
    } catch {
      Issue.record(error)
      return open.settings.configuration
    }
  }

  final class Lines: LogSink {
    private let kept = Mutex<[String]>([])
    var all: [String] { kept.withLock { $0 } }
    func write(_ line: [UInt8]) { kept.withLock { $0.append(String(decoding: line, as: UTF8.self)) } }
  }

  private struct Nowhere: LogOutput {
    func write(_: [UInt8]) -> Bool { true }
  }
}
