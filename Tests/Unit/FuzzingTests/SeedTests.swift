/// Replays every committed seed in process, so that plain `make test` has them without a fuzzer.
import Foundation
import Kit
import Testing

@testable import Fuzzing

@Suite struct SeedTests {
  private static let folder = Repository.folder.appending(path: "Tests/Adversarial/Fuzzing/Seeds")

  private struct Seed {
    let name: String
    let bytes: [UInt8]
  }

  private static func seeds(of harness: Harness) throws -> [Seed] {
    let folder = folder.appending(path: harness.rawValue)
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { name in
      Seed(name: name, bytes: [UInt8](try Data(contentsOf: folder.appending(path: name))))
    }
  }

  /// Names say what the parser makes of a seed; those that a fuzzer left behind, beginning with `found`, may
  /// be either.
  @Test(arguments: Harness.allCases) func replay(harness: Harness) throws {
    let seeds = try Self.seeds(of: harness)
    #expect(seeds.contains { $0.name.hasPrefix("accepted") })
    #expect(seeds.contains { $0.name.hasPrefix("refused") })
    for seed in seeds {
      let verdict = try harness.check(seed.bytes)
      switch seed.name.prefix(while: { $0 != "-" }) {
      case "accepted": #expect(verdict == .accepted, "\(seed.name)")
      case "refused": #expect(verdict == .refused, "\(seed.name)")
      default: #expect(seed.name.hasPrefix("found-"), "what does \(seed.name) show?")
      }
    }
  }

  /// Each cut short everywhere, as a fuzzer would begin.
  @Test(arguments: Harness.allCases) func replayCut(harness: Harness) throws {
    for seed in try Self.seeds(of: harness) where seed.bytes.count <= 256 {
      for count in 0..<seed.bytes.count { _ = try harness.check(Array(seed.bytes[..<count])) }
    }
  }

  @Test func everyFolderHasItsHarness() throws {
    let folders = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
    #expect(folders.sorted() == Harness.allCases.map(\.rawValue).sorted())
  }

  /// The signed ones are those that the code makes, apart from their signatures, which are random.
  @Test func signedSeedsAreThere() throws {
    for seed in SignedSeed.all {
      let file = Self.folder.appending(path: "\(seed.harness.rawValue)/\(seed.name)")
      if ProcessInfo.processInfo.environment["UPDATE_SEEDS"] != nil { try Data(seed.bytes).write(to: file) }
      let bytes = [UInt8](try Data(contentsOf: file))
      switch seed.harness {
      case .journal, .snapshot, .authenticatorData, .slot, .luggage:
        #expect(bytes == seed.bytes, "\(seed.name)")
      default: #expect(abs(bytes.count - seed.bytes.count) <= 16, "\(seed.name)")
      }
    }
  }

  /// A property that does not hold is told of: a harness that cannot fail would find nothing.
  @Test func brokenPropertiesAreThrown() {
    #expect(throws: BrokenProperty.self) { try require(false, "that this holds") }
    #expect(throws: Never.self) { try require(true, "that this holds") }
  }
}
