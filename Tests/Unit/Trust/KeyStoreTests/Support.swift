import Bytes
import Identity
import Kit
import Synchronization
import Time

@testable import KeyStore

final class TestEntropy: Entropy {
  private let random: Mutex<SplitMix>

  init(seed: UInt64) { random = Mutex(SplitMix(seed: seed)) }

  func fill(_ bytes: inout MutableSpan<UInt8>) {
    for index in bytes.indices { bytes[index] = random.withLock { UInt8(truncatingIfNeeded: $0.next()) } }
  }
}

/// What was reported or completed, in order.
final class Recorder<Element: Sendable>: Sendable {
  private let elements = Mutex<[Element]>([])

  func append(_ element: Element) { elements.withLock { $0.append(element) } }
  var all: [Element] { elements.withLock { $0 } }
}

func bytes32(_ number: UInt64) -> Bytes32 {
  var random = SplitMix(seed: number)
  return Bytes32(words: random.next(), random.next(), random.next(), random.next())
}

func identifier(_ number: Int) -> KeyIdentifier { KeyIdentifier(bytes32(UInt64(number))) }

func point(_ number: Int) -> P256Point {
  P256Point(x: bytes32(UInt64(number) + 1_000_000), y: bytes32(UInt64(number) + 2_000_000))
}

func newKey(_ number: Int, at time: UnixTime = UnixTime(milliseconds: 1_771_286_400_000)) -> NewKey {
  NewKey(
    identifier: identifier(number), publicKey: point(number), appID: "ABCDEF12K4.com.example.app",
    environment: .production, validationCategory: 4, bundleVersion: "1.\(number % 3)", registeredAt: time)
}

let storePath = "/store/keys.json"

/// A store without threads: the test takes the committer's and the snapshotter's steps.
struct Bench {
  let files: PowerLossFiles
  let clock = ManualClock()
  let events = Recorder<KeyStoreEvent>()

  init(files: PowerLossFiles = PowerLossFiles(seed: 1)) { self.files = files }

  func open(_ options: KeyStore.Options = .init()) throws(KeyStoreError) -> KeyStore {
    let events = events
    return try KeyStore.recover(
      path: storePath, options: options, files: files, clock: clock, entropy: TestEntropy(seed: 7),
      report: { events.append($0) })
  }

  func snapshotText() -> String {
    String(decoding: files.contents(of: storePath) ?? [], as: UTF8.self)
  }
}

extension KeyStore {
  /// As its threads would leave it: everything committed.
  func commitAll() { while commitOnce() {} }

  func advance(
    _ number: Int, to count: UInt32, _ completion: @escaping Completion = { _ in }
  )
    -> CounterVerdict
  {
    advanceCounter(
      of: identifier(number), to: count, now: clock.wall(), completion: completion)
  }
}
