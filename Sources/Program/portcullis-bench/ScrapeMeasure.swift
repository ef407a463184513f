/// What a scrape of `/metrics` costs a gate of four loops that holds as much as with ten thousand sessions: their descriptors
/// and their keys. Loops and sessions themselves are asked nothing (docs/metrics.md).
internal import AppAttest
internal import Assembly
internal import Configuration
internal import Crypto
internal import Gateway
internal import KeyStore
internal import Logs
internal import System
internal import Telemetry
internal import TLS

enum ScrapeMeasure {
  private static let sessions = 10_000
  private static let app = "ABCDE12345.com.example.mud"

  static func run(folder: String, seconds: Double) throws -> Report {
    let configuration = try configuration(folder)
    let store = try StoreMeasure.open(folder, durability: .relaxed)
    for number in 0..<sessions { _ = store.register(StoreMeasure.key(number)) { _ in } }
    let gate = try gate(configuration, store)
    defer {
      gate.stop()
      _ = store.close()
    }
    let descriptors = heldDescriptors(2 * sessions)
    let metrics = GateMetrics(gate, version: "bench")
    let checks = ["listening", "draining", "loops", "store", "game", "certificate"].map {
      GateMetrics.Check(name: $0, isOK: true)
    }
    var (count, longest, bytes) = (0, 0.0, 0)
    let all = ProcessorClock()
    while all.seconds < seconds || count < 10 {
      let one = WallClock()
      bytes = metrics.text(checks: checks).count
      longest = max(longest, one.seconds)
      count += 1
    }
    return Report(
      ("scrapes", Double(count)), ("milliseconds_each", all.seconds * 1000 / Double(count)),
      ("longest_milliseconds", longest * 1000), ("bytes", Double(bytes)),
      ("descriptors", Double(descriptors.count)))
  }

  private static func configuration(_ folder: String) throws -> GateConfiguration {
    let environment = [
      ("LISTEN", "127.0.0.1:0"), ("BACKEND", "echo:"), ("WORKERS", "4"), ("APPATTEST_APP_IDS", app),
      ("ATTESTED_KEYS_PATH", StoreMeasure.file(in: folder)), ("CONTROL_SOCKET", "\(folder)/gate.sock"),
    ]
    return try ConfigurationLoader.load(
      environment: environment, files: SystemFiles(), processors: 4, descriptorLimit: 65_536
    ).configuration
  }

  private static func gate(_ configuration: GateConfiguration, _ store: KeyStore) throws -> Gate {
    try GateAssembly(
      configuration, store: store, root: .apple(), tls: try TLSMaterial(.localhost()),
      log: GateLog(sink: Nowhere())
    ).start()
  }

  /// As many as the process may have, up to `count`.
  private static func heldDescriptors(_ count: Int) -> [HeldDescriptor] {
    var held: [HeldDescriptor] = []
    while held.count < count, let one = try? OwnedDescriptor.open(reading: "/dev/null") {
      held.append(HeldDescriptor(one))
    }
    // Some are left for what is measured.
    held.removeLast(min(held.count, 16))
    return held
  }
}

/// One in a list, which cannot hold the descriptor itself.
private final class HeldDescriptor {
  private let descriptor: OwnedDescriptor

  init(_ descriptor: consuming OwnedDescriptor) {
    self.descriptor = descriptor
  }
}

private struct Nowhere: LogSink {
  func write(_ line: [UInt8]) {}
}
