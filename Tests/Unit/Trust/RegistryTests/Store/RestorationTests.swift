/// A copy in the place of a store: what may be one, who has to be gone, and what has ended at the next start.
import Crypto
import DeviceTokens
import DeviceWire
import Glibc
import JSON
import Kit
import Synchronization
import System
import Testing
import Time

@testable import Registry

@Suite struct RestorationTests {
  private final class Ends: Upkeep {
    let count = Mutex(0)

    func tend(_ transaction: inout Transaction) throws(CallFailure) -> UnixTime? { nil }
    func endAll(_ transaction: inout Transaction) throws(CallFailure) { count.withLock { $0 += 1 } }
  }

  private let now = UnixTime(milliseconds: 1_771_286_400_000)

  private func inFolder(_ body: (String) throws -> Void) throws {
    let folder = try TemporaryFolder(prefix: "portcullis-restore-")
    let path = folder.path
    let outcome = Result { try body(path) }
    folder.remove()
    try outcome.get()
  }

  /// Opens the store as a gate does, serves some calls, and closes it.
  private func serve(_ path: String, _ calls: [any RegistryCall], upkeep: [any Upkeep] = []) throws {
    let worker = try RegistryWorker(
      RegistryDatabase(path), settings: RegistrySettings(publicURL: "https://gate.example"),
      clock: ManualClock(nanoseconds: SystemClock().monotonic().nanoseconds),
      entropy: KernelEntropy(), listener: Listener(), inbox: Monitor(Registry.Inbox()), upkeep: upkeep)
    for (number, call) in calls.enumerated() {
      worker.serve([
        Registry.Request(
          handle: RequestHandle(number: UInt64(number)), call: call, origin: .gate, wait: nil,
          completion: { _ in })
      ])
    }
    while worker.copying != nil { worker.goOnCopying() }
    worker.finish()
  }

  private func value(_ path: String, _ name: String) throws -> [UInt8]? {
    let store = try RegistryDatabase(path)
    defer { store.close() }
    return try store.value(name)
  }

  private func backUp() throws -> any RegistryCall {
    try OperatorOrder.call("devices-backup", JSONObject([(name: "name", value: .string("copy.db"))]))
  }

  @Test func whatTheCopyHoldsIsThereAndWhatCameLaterIsNot() throws {
    try inFolder { folder in
      let store = folder + "/devices.db"
      try serve(store, [Put(name: "v1"), try backUp()])
      try serve(store, [Put(name: "v2")])
      let report = try StoreRestoration.restore(folder + "/copy.db", to: store, at: now)
      #expect(report.replaced == store + ".replaced" && report.activeDevices == 0 && report.copiedAt != nil)
      let ends = Ends()
      try serve(store, [], upkeep: [ends])
      try serve(store, [], upkeep: [ends])
      #expect(ends.count.withLock { $0 } == 1)
      #expect(try value(store, "v1") != nil)
      #expect(try value(store, "v2") == nil)
      #expect(try value(store + ".replaced", "v2") != nil)
      // The copy is what it was, and may be used again.
      #expect(try value(folder + "/copy.db", StoreValue.restored) == nil)
    }
  }

  /// Neither a row nor a page of it: whoever has the copy signs nothing. A store that takes such a one's place, or that of an
  /// earlier program's copy, makes keys of its own.
  @Test(arguments: [false, true]) func aCopyHoldsNoSecretOfTheGate(isOfAnEarlierProgram: Bool) throws {
    try inFolder { folder in
      let (store, copy) = (folder + "/devices.db", folder + "/copy.db")
      let secret = KernelEntropy().bytes(32)
      // So many keys that their table has several pages, and rows have moved between them.
      var clock = UnixTime(milliseconds: 1_771_286_400_000)
      let opened = try RegistryDatabase(store)
      let mint = try TokenMint(opened, at: clock, P256Verifier())
      for _ in 0..<60 {
        clock = clock.adding(.seconds(60))
        try mint.replaceKeys(in: opened, at: clock, endingTokens: false)
      }
      opened.close()
      try serve(store, [Put(name: StoreValue.secret, value: secret), try backUp()])
      if isOfAnEarlierProgram {
        try WholeFile.write(try WholeFile.read(store), to: copy, mode: 0o600, overwriting: true)
      }
      let before = try RegistryDatabase(store)
      let keys = try before.tokenKeys().map(\.key)
      before.close()
      var secrets = [secret]
      for key in keys {
        let text = try key.scalar()
        secrets.append(
          unsafe text.withPointer { unsafe Array(UnsafeBufferPointer(start: $0, count: text.count)) })
      }
      #expect(secrets.count == 3)
      let bytes = try WholeFile.read(copy)
      for secret in secrets { #expect(contains(bytes, secret) == isOfAnEarlierProgram) }
      _ = try StoreRestoration.restore(copy, to: store, at: now)
      let restored = try WholeFile.read(store)
      for secret in secrets { #expect(!contains(restored, secret)) }
      try serve(store, [])
      let after = try RegistryDatabase(store)
      defer { after.close() }
      let fresh = try after.tokenKeys().map(\.key.identifier)
      #expect(fresh.count == 1 && !keys.map(\.identifier).contains(fresh[0]))
      // A head of before can still be judged.
      #expect(try after.tokenKey(keys[0].thumbprint) == keys[0].point)
    }
  }

  private func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
    bytes.indices.contains { index in bytes[index] == part[0] && bytes[index...].starts(with: part) }
  }

  @Test func aStoreThatIsGoneOrDamagedIsReplaced() throws {
    try inFolder { folder in
      let store = folder + "/devices.db"
      try serve(store, [Put(name: "v1"), try backUp()])
      _ = unsafe unlink(store)
      #expect(try StoreRestoration.restore(folder + "/copy.db", to: store, at: now).replaced == nil)
      try WholeFile.write(Array("damaged beyond any reading".utf8), to: store, mode: 0o600, overwriting: true)
      _ = try StoreRestoration.restore(folder + "/copy.db", to: store, at: now)
      #expect(try value(store, "v1") != nil)
    }
  }

  @Test func whatIsNoCopyChangesNothing() throws {
    try inFolder { folder in
      let store = folder + "/devices.db"
      try serve(store, [Put(name: "v1"), try backUp()])
      try WholeFile.write(Array("no database".utf8), to: folder + "/text", mode: 0o600, overwriting: true)
      var cut = try WholeFile.read(folder + "/copy.db")
      cut.removeLast(cut.count / 2)
      try WholeFile.write(cut, to: folder + "/cut", mode: 0o600, overwriting: true)
      try WholeFile.write([], to: folder + "/empty", mode: 0o600, overwriting: true)
      try WholeFile.write(
        try WholeFile.read(folder + "/copy.db"), to: folder + "/live", mode: 0o600, overwriting: true)
      try WholeFile.write([1], to: folder + "/live-wal", mode: 0o600, overwriting: true)
      for name in ["text", "cut", "empty", "live", "missing"] {
        #expect(throws: StoreRestoration.Failure.self, "\(name)") {
          _ = try StoreRestoration.restore(folder + "/\(name)", to: store, at: now)
        }
        #expect(try value(store, "v1") != nil)
        #expect(!WholeFile.exists(store + ".restoring") && !WholeFile.exists(store + ".replaced"))
      }
    }
  }
}
