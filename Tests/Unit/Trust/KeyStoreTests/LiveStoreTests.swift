import Bytes
import Foundation
import Kit
import Synchronization
import System
import Testing
import Time

@testable import KeyStore

/// The store as the program runs it: its own threads, the real clock, real files in a directory of its own.
@Suite struct LiveStoreTests {
  private final class Directory: Sendable {
    private let folder: TestFolder
    var path: String { folder.path }
    var store: String { folder.file("keys.json") }

    init() throws { folder = try TestFolder("portcullis-store-") }

    var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path).sorted()) ?? [] }
  }

  /// Counts completions; `wait` returns when all have come.
  private final class Countdown: Sendable {
    private let left: Mutex<Int>
    private let signal = Signal()
    private let failures = Mutex(0)

    init(_ count: Int) { left = Mutex(count) }

    func arrived(_ result: CommitResult) {
      if result == .failed { failures.withLock { $0 += 1 } }
      let isLast = left.withLock { left in
        left -= 1
        return left == 0
      }
      if isLast { signal.ring() }
    }

    func wait() -> Int {
      while left.withLock({ $0 > 0 }) { signal.wait() }
      return failures.withLock { $0 }
    }
  }

  private func register(_ keys: Range<Int>, in store: KeyStore) {
    let countdown = Countdown(keys.count)
    for key in keys { _ = store.register(newKey(key)) { countdown.arrived($0) } }
    #expect(countdown.wait() == 0)
  }

  @Test func everyAcknowledgedFactIsThereAgain() throws {
    let directory = try Directory()
    let store = try KeyStore.open(path: directory.store) { _ in }
    register(0..<500, in: store)
    let countdown = Countdown(500)
    for key in 0..<500 { _ = store.advance(key, to: UInt32(key + 1)) { countdown.arrived($0) } }
    #expect(countdown.wait() == 0)
    // Group commit: a thousand facts, far fewer syncs.
    #expect(store.statistics.commits == 1000)
    #expect(store.statistics.batches < 1000)

    // Read beside the running store, and refused to a second owner.
    let contents = try KeyStoreReader.read(directory.store)
    #expect(contents.count == 500)
    #expect(contents.find(identifier(41))?.signCount == 42)
    let refusal = #expect(throws: KeyStoreError.self) { try KeyStore.open(path: directory.store) { _ in } }
    #expect(refusal == .locked(path: directory.store, owner: .of(getpid())))
    // Who it is and what it is called: nobody has to look for whom to stop.
    #expect(StoreOwner.of(getpid()).command?.isEmpty == false)
    #expect(refusal?.description.contains(" belongs to \(StoreOwner.of(getpid()))") == true)
    // A file that was copied with another's number in it names nobody but who has the lock.
    try Data("1\n".utf8).write(to: URL(fileURLWithPath: directory.store + ".lock"))
    #expect(throws: KeyStoreError.locked(path: directory.store, owner: .of(getpid()))) {
      try KeyStore.open(path: directory.store) { _ in }
    }

    #expect(store.close())
    #expect(directory.names == ["keys.json", "keys.json.lock"])
    let attributes = try FileManager.default.attributesOfItem(atPath: directory.store)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    let again = try KeyStore.open(path: directory.store) { _ in }
    for key in 0..<500 { #expect(again.find(identifier(key))?.signCount == UInt32(key + 1)) }
    #expect(again.close())
  }

  /// Many threads, one key, one counter: exactly one wins.
  @Test func oneWinsOfMany() throws {
    let directory = try Directory()
    let store = try KeyStore.open(path: directory.store) { _ in }
    register(0..<1, in: store)
    for round in 1...50 {
      let winners = Recorder<Int>()
      let verdicts = Countdown(8)
      let committed = Countdown(1)
      var threads: [JoinHandle] = []
      for contender in 0..<8 {
        let thread = try Thread(name: "contender") {
          let verdict = store.advance(0, to: UInt32(round)) {
            committed.arrived($0)
          }
          if verdict == .accepted {
            winners.append(contender)
          } else {
            #expect(verdict == .replayed(stored: UInt32(round)))
          }
          verdicts.arrived(.committed)
        }
        threads.append(JoinHandle(thread))
      }
      _ = verdicts.wait()
      for thread in threads { thread.join() }
      #expect(committed.wait() == 0)
      #expect(winners.all.count == 1)
    }
    #expect(store.close())
  }

  /// Changes, snapshots, readers and a walk, all at once: no fact is lost, no reader is disturbed.
  @Test func readersAndSnapshotsBesideTraffic() throws {
    let directory = try Directory()
    // Snapshots are this test's own, as often as can be; only the committer is a thread.
    let store = try KeyStore.recover(
      path: directory.store, options: .init(), files: LinuxFiles(), clock: SystemClock(),
      entropy: KernelEntropy(),
      report: { _ in })
    try store.lifetime.withLock { $0.committer = try Thread(name: "committer") { store.commitUntilClosed() } }
    register(0..<64, in: store)
    let countdown = Countdown(4 * 300)
    let done = Countdown(4)
    var threads: [JoinHandle] = []
    for worker in 0..<4 {
      let thread = try Thread(name: "worker") {
        for step in 1...300 {
          let key = worker * 16 + step % 16
          let count = (store.find(identifier(key))?.signCount ?? 0) + 1
          #expect(store.advance(key, to: count) { countdown.arrived($0) } == .accepted)
        }
        done.arrived(.committed)
      }
      threads.append(JoinHandle(thread))
    }
    for _ in 0..<10 {
      #expect(store.attemptSnapshot(recovering: false))
      let contents = try KeyStoreReader.read(directory.store)
      #expect(contents.count == 64)
    }
    _ = done.wait()
    for thread in threads { thread.join() }
    #expect(countdown.wait() == 0)
    // As kill -9 leaves it: another store, on a copy of the files.
    let copy = try Directory()
    for name in directory.names where name != "keys.json.lock" {
      try FileManager.default.copyItem(atPath: directory.path + "/" + name, toPath: copy.path + "/" + name)
    }
    let other = try KeyStore.open(path: copy.store) { _ in }
    for key in 0..<64 { #expect(other.find(identifier(key)) == store.find(identifier(key))) }
    let total = (0..<64).reduce(0) { $0 + Int(other.find(identifier($1))?.signCount ?? 0) }
    #expect(total == 1200)
    #expect(other.close())
    #expect(store.close())
  }

  @Test func symbolicLinkStaysALink() throws {
    let directory = try Directory()
    let real = try Directory()
    try "{}".write(toFile: real.store, atomically: false, encoding: .utf8)
    try FileManager.default.createSymbolicLink(atPath: directory.store, withDestinationPath: real.store)
    let store = try KeyStore.open(path: directory.store) { _ in }
    register(0..<1, in: store)
    #expect(store.close())
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: directory.store) == real.store)
    #expect(try KeyStoreReader.read(directory.store).count == 1)
  }

  /// The store's other files are its own to make: a link in their place could lead to any file that this user may write.
  @Test(arguments: ["lock", "journal.7"]) func linksInPlaceOfOurFilesAreRefused(suffix: String) throws {
    let directory = try Directory()
    let victim = directory.path + "/victim"
    try "precious".write(toFile: victim, atomically: false, encoding: .utf8)
    let link = "\(directory.store).\(suffix)"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: victim)
    #expect(throws: KeyStoreError.symbolicLink(link)) { try KeyStore.open(path: directory.store) { _ in } }
    #expect(KeyStoreError.symbolicLink(link).description.hasPrefix("\(link) is a symbolic link"))
    #expect(try String(contentsOfFile: victim, encoding: .utf8) == "precious")
    if suffix != "lock" {
      #expect(throws: KeyStoreError.symbolicLink(link)) { try KeyStoreReader.read(directory.store) }
    }
  }

  /// The temporary file's name may be taken by a link to nothing, which goes like any other leftover.
  @Test func aLinkInPlaceOfTheTemporaryFileGoes() throws {
    let directory = try Directory()
    let elsewhere = directory.path + "/elsewhere"
    let link = directory.store + ".new"
    let store = try KeyStore.open(path: directory.store) { _ in }
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: elsewhere)
    register(0..<1, in: store)
    #expect(store.close())
    #expect(!FileManager.default.fileExists(atPath: elsewhere))
    #expect(try KeyStoreReader.read(directory.store).count == 1)
  }

  /// Perhaps what it leads to is only not mounted yet: an empty store in its place would forget every key.
  @Test func aLinkToNothingIsNoEmptyStore() throws {
    let directory = try Directory()
    try FileManager.default.createSymbolicLink(
      atPath: directory.store, withDestinationPath: directory.path + "/none/keys.json")
    #expect(throws: KeyStoreError.danglingLink(directory.store)) {
      try KeyStore.open(path: directory.store) { _ in }
    }
    #expect(throws: KeyStoreError.danglingLink(directory.store)) { try KeyStoreReader.read(directory.store) }
  }

  @Test func clearErrors() throws {
    let directory = try Directory()
    #expect(throws: KeyStoreError.directoryMissing(directory.path + "/none")) {
      try KeyStore.open(path: directory.path + "/none/keys.json") { _ in }
    }
    #expect(throws: KeyStoreError.notAFile(directory.path)) {
      try KeyStore.open(path: directory.path) { _ in }
    }
    #expect(throws: KeyStoreError.directoryMissing(directory.path + "/none")) {
      try KeyStoreReader.read(directory.path + "/none/keys.json")
    }
    #expect(try KeyStoreReader.read(directory.store).count == 0)
  }
}
