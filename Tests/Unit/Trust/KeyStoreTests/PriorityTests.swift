import Kit
import Synchronization
import System
import Testing

@testable import KeyStore

/// Loops wait for the store's lock, so whoever takes it has their priority (docs/architecture-threads.md, "Locks").
@Suite struct PriorityTests {
  @Test func aThreadBehindTheLoopsMayNotTakeTheLock() async {
    await #expect(processExitsWith: .failure) {
      let store = try Bench().open()
      try Thread(name: "behind", niceness: Thread.behindLoops) { _ = store.find(identifier(1)) }.join()
    }
    // It is its priority that counts.
    await #expect(processExitsWith: .success) {
      let store = try Bench().open()
      try Thread(name: "beside") { _ = store.find(identifier(1)) }.join()
    }
  }

  /// All that the store's own threads do takes the lock as they may; and what takes time is still done behind the loops.
  @Test func snapshotsAreCopiedBesideTheLoopsAndWrittenBehindThem() throws {
    let folder = try TemporaryFolder(prefix: "portcullis-priority-")
    let files = WatchedFiles()
    let clock = ManualClock()
    let written = Monitor<[Int]>([])
    let store = try KeyStore.open(path: folder.path + "/keys.json", files: files, clock: clock) { event in
      guard case .snapshotWritten(let keys, _, _) = event else { return }
      #expect(Thread.niceness == 0)
      written.withLock { all, wake in
        all.append(keys)
        wake.all()
      }
    }
    for number in 0..<1000 { _ = store.register(newKey(number)) { _ in } }
    clock.advance(.seconds(2))
    store.snapshotSignal.ring()
    written.wait { $0.isEmpty ? .wait : .done(()) }
    #expect(files.nicenesses == [Thread.behindLoops])
    #expect(store.close())
    #expect(written.withLock { all, _ in all.first } == 1000)
    folder.remove()
  }
}

/// The real ones; remembers what niceness the threads had that wrote snapshots.
private final class WatchedFiles: StoreFiles {
  private let files = LinuxFiles()
  private let seen = Mutex<Set<Int32>>([])

  var nicenesses: Set<Int32> { seen.withLock { $0 } }

  func open(_ path: String, _ access: FileAccess) throws(SystemError) -> any StoreFile {
    let file = try files.open(path, access)
    guard path.hasSuffix(".new") else { return file }
    return WatchedFile(file: file) { self.seen.withLock { _ = $0.insert(Thread.niceness) } }
  }

  func resolve(_ path: String) -> String { files.resolve(path) }
  func identity(of path: String) throws(SystemError) -> FileIdentity? { try files.identity(of: path) }
  func list(_ directory: String) throws(SystemError) -> [String] { try files.list(directory) }
  func rename(_ old: String, to new: String) throws(SystemError) { try files.rename(old, to: new) }
  func link(_ old: String, to new: String) throws(SystemError) { try files.link(old, to: new) }
  func remove(_ path: String) throws(SystemError) { try files.remove(path) }
  func synchronizeDirectory(_ directory: String) throws(SystemError) {
    try files.synchronizeDirectory(directory)
  }
  func lock(_ path: String) throws(StoreLockError) -> any StoreLock { try files.lock(path) }
}

private struct WatchedFile: StoreFile {
  let file: any StoreFile
  let note: @Sendable () -> Void

  func identity() throws(SystemError) -> FileIdentity { try file.identity() }
  func read(_ count: Int, at offset: Int64, into bytes: inout [UInt8]) throws(SystemError) -> Int {
    try file.read(count, at: offset, into: &bytes)
  }
  func write(_ bytes: Span<UInt8>, at offset: Int64) throws(SystemError) -> Int {
    note()
    return try file.write(bytes, at: offset)
  }
  func synchronize() throws(SystemError) {
    note()
    try file.synchronize()
  }
}
