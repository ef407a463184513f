import Bytes
import Kit
import Synchronization
import System

@testable import KeyStore

/// A disk in memory that keeps what was written and what was synced apart, fails on request, and loses power.
///
/// After a loss of power an inode holds what was synced and any torn, reordered subset of what was written
/// since; a directory holds what was synced and any subset of the names that changed since. A failed sync
/// loses for good what it did not write, as Linux does: the next sync succeeds without it.
final class PowerLossFiles: StoreFiles {
  enum Fault: Equatable, Sendable {
    case powerLoss
    case error(Int32)
    /// `kill -9`: what was written stays to be read, and nothing says whether it was synced.
    case kill
    /// A write takes only some of its bytes.
    case short

    static let inputOutput = Fault.error(5)
    static let noSpace = Fault.error(28)
  }

  private let disk: Mutex<Disk>
  private let meanwhile = Mutex<(@Sendable () -> Void)?>(nil)

  init(seed: UInt64) {
    disk = Mutex(Disk(random: SplitMix(seed: seed)))
  }

  // MARK: What tests ask for

  var calls: Int { disk.withLock { $0.calls } }
  var isOff: Bool { disk.withLock { $0.isOff } }
  var names: [String] { disk.withLock { $0.names.keys.sorted() } }

  /// Counts calls from zero again.
  func plan(_ faults: [Int: Fault]) {
    disk.withLock { ($0.faults, $0.calls) = (faults, 0) }
  }

  /// What happens on other threads while the next sync of a file is under way; it holds no lock of the store.
  func duringNextSync(_ body: @escaping @Sendable () -> Void) {
    meanwhile.withLock { $0 = body }
  }

  /// From now on every call fails this way, until nil.
  func failAll(_ error: Int32?) {
    disk.withLock { $0.errorOfAll = error }
  }

  func reboot() {
    disk.withLock { $0.reboot() }
  }

  /// After a kill: another process finds the files as they were.
  func restart() {
    disk.withLock { disk in
      (disk.locks, disk.isKilled) = ([], false)
      disk.epoch += 1
    }
  }

  var isKilled: Bool { disk.withLock { $0.isKilled } }

  func contents(of path: String) -> [UInt8]? {
    disk.withLock { disk in disk.names[path].map { disk.inodes[$0].visible } }
  }

  /// Puts a file there as if it had always been.
  func place(_ path: String, _ bytes: [UInt8]) {
    disk.withLock { disk in
      disk.inodes.append(Inode(visible: bytes, durable: bytes))
      disk.names[path] = disk.inodes.count - 1
      disk.durableNames[path] = disk.inodes.count - 1
    }
  }

  // MARK: StoreFiles

  func resolve(_ path: String) -> String { path }

  func open(_ path: String, _ access: FileAccess) throws(SystemError) -> any StoreFile {
    try call("open") { disk throws(SystemError) in
      if access == .create {
        guard disk.names[path] == nil else { throw SystemError("open", 17) }
        disk.inodes.append(Inode())
        disk.change(.name(path, disk.inodes.count - 1))
      }
      guard let inode = disk.names[path] else { throw SystemError("open", 2) }
      return Handle(files: self, inode: inode, epoch: disk.epoch)
    }
  }

  func identity(of path: String) throws(SystemError) -> FileIdentity? {
    try call("stat") { disk throws(SystemError) in
      if path == "/store/." { return FileIdentity(device: 1, inode: .max, size: 0, isRegular: false) }
      return disk.names[path].map { disk.identity($0) }
    }
  }

  func list(_ directory: String) throws(SystemError) -> [String] {
    try call("opendir") { disk throws(SystemError) in
      disk.names.keys.map { String($0.dropFirst(directory.count + 1)) }
    }
  }

  func rename(_ old: String, to new: String) throws(SystemError) {
    try call("rename") { disk throws(SystemError) in
      guard let inode = disk.names[old] else { throw SystemError("rename", 2) }
      disk.change(.rename(old, new, inode))
    }
  }

  func link(_ old: String, to new: String) throws(SystemError) {
    try call("link") { disk throws(SystemError) in
      guard let inode = disk.names[old] else { throw SystemError("link", 2) }
      disk.change(.name(new, inode))
    }
  }

  func remove(_ path: String) throws(SystemError) {
    try call("unlink") { disk throws(SystemError) in
      guard disk.names[path] != nil else { throw SystemError("unlink", 2) }
      disk.change(.unname(path))
    }
  }

  func synchronizeDirectory(_ directory: String) throws(SystemError) {
    try call("fsync") { disk throws(SystemError) in
      disk.durableNames = disk.names
      disk.nameChanges = []
    }
  }

  func lock(_ path: String) throws(StoreLockError) -> any StoreLock {
    let lock = disk.withLock { disk -> Lock? in
      disk.locks.insert(path).inserted ? Lock(files: self, path: path, epoch: disk.epoch) : nil
    }
    guard let lock else { throw .held(by: StoreOwner(process: 4711)) }
    return lock
  }

  fileprivate func release(_ path: String, epoch: Int) {
    disk.withLock { disk in
      if disk.epoch == epoch { disk.locks.remove(path) }
    }
  }

  // MARK: Faults

  /// Every call of the store comes through here and may be the one that fails.
  fileprivate func call<Value: Sendable>(
    _ name: String, epoch: Int? = nil, _ body: (inout Disk) throws(SystemError) -> Value
  ) throws(SystemError) -> Value {
    try disk.withLock { disk throws(SystemError) in
      if let epoch, epoch != disk.epoch { throw SystemError(name, 9) }
      guard !disk.isOff, !disk.isKilled else { throw SystemError(name, 5) }
      let number = disk.calls
      disk.calls += 1
      if let error = disk.errorOfAll { throw SystemError(name, error) }
      switch disk.faults[number] {
      case nil, .short: return try body(&disk)
      case .error(let error): throw SystemError(name, error)
      case .kill:
        // Just before or just after the call, which nobody sees return.
        if disk.random.next() % 2 == 0 { _ = try? body(&disk) }
        disk.isKilled = true
        throw SystemError(name, 5)
      case .powerLoss:
        // The call may have got anywhere: what it changed is unsynced, so the reboot decides. A sync did
        // nothing.
        if name != "fsync", name != "fdatasync" { _ = try? body(&disk) }
        disk.isOff = true
        throw SystemError(name, 5)
      }
    }
  }

  fileprivate func write(
    _ bytes: [UInt8], at offset: Int, _ inode: Int, _ epoch: Int
  ) throws(SystemError) -> Int {
    try call("pwrite", epoch: epoch) { disk throws(SystemError) in
      var bytes = bytes
      if disk.faults[disk.calls - 1] == .short, bytes.count > 1 {
        bytes = Array(bytes.prefix(1 + Int(disk.random.next() % UInt64(bytes.count - 1))))
      }
      disk.inodes[inode].write(Write(offset: offset, new: bytes))
      return bytes.count
    }
  }

  fileprivate func synchronize(_ inode: Int, _ epoch: Int) throws(SystemError) {
    let body = meanwhile.withLock { meanwhile in
      defer { meanwhile = nil }
      return meanwhile
    }
    body?()
    // A failed sync has written some of it, and forgets the rest.
    let fails = disk.withLock { disk in
      disk.errorOfAll != nil || { if case .error = disk.faults[disk.calls] { true } else { false } }()
    }
    if fails { disk.withLock { $0.loseUnsynced(inode) } }
    try call("fdatasync", epoch: epoch) { disk throws(SystemError) in
      for change in disk.inodes[inode].unsynced { change.apply(to: &disk.inodes[inode].durable) }
      disk.inodes[inode].unsynced = []
    }
  }

  private final class Lock: StoreLock {
    let files: PowerLossFiles
    let path: String
    let epoch: Int

    init(files: PowerLossFiles, path: String, epoch: Int) {
      (self.files, self.path, self.epoch) = (files, path, epoch)
    }

    deinit { files.release(path, epoch: epoch) }
  }

  private struct Handle: StoreFile {
    let files: PowerLossFiles
    let inode: Int
    let epoch: Int

    func identity() throws(SystemError) -> FileIdentity {
      try files.call("fstat", epoch: epoch) { disk throws(SystemError) in disk.identity(inode) }
    }

    func read(_ count: Int, at offset: Int64, into bytes: inout [UInt8]) throws(SystemError) -> Int {
      let read = try files.call("pread", epoch: epoch) { disk throws(SystemError) in
        Array(disk.inodes[inode].visible.dropFirst(Int(offset)).prefix(count))
      }
      bytes += read
      return read.count
    }

    func write(_ bytes: Span<UInt8>, at offset: Int64) throws(SystemError) -> Int {
      var copy: [UInt8] = []
      for index in bytes.indices { copy.append(bytes[index]) }
      return try files.write(copy, at: Int(offset), inode, epoch)
    }

    func synchronize() throws(SystemError) {
      try files.synchronize(inode, epoch)
    }
  }
}

private struct Write: Sendable {
  let offset: Int
  let new: [UInt8]

  func apply(to bytes: inout [UInt8]) {
    if bytes.count < offset + new.count {
      bytes += [UInt8](repeating: 0, count: offset + new.count - bytes.count)
    }
    bytes.replaceSubrange(offset..<offset + new.count, with: new)
  }
}

private enum NameChange: Sendable {
  case name(String, Int)
  case unname(String)
  case rename(String, String, Int)

  func apply(to names: inout [String: Int]) {
    switch self {
    case .name(let name, let inode): names[name] = inode
    case .unname(let name): names[name] = nil
    case .rename(let old, let new, let inode):
      if names[old] == inode { names[old] = nil }
      names[new] = inode
    }
  }
}

private struct Inode: Sendable {
  var visible: [UInt8] = []
  var durable: [UInt8] = []
  var unsynced: [Write] = []

  mutating func write(_ change: Write) {
    change.apply(to: &visible)
    unsynced.append(change)
  }
}

private struct Disk: Sendable {
  var inodes: [Inode] = []
  var names: [String: Int] = [:]
  var durableNames: [String: Int] = [:]
  var nameChanges: [NameChange] = []
  var locks: Set<String> = []
  var faults: [Int: PowerLossFiles.Fault] = [:]
  var errorOfAll: Int32?
  var calls = 0
  var epoch = 0
  var isOff = false
  var isKilled = false
  var random: SplitMix

  init(random: SplitMix) { self.random = random }

  func identity(_ inode: Int) -> FileIdentity {
    FileIdentity(device: 1, inode: UInt64(inode), size: Int64(inodes[inode].visible.count))
  }

  mutating func change(_ change: NameChange) {
    change.apply(to: &names)
    nameChanges.append(change)
  }

  /// Writes a torn part of what is unsynced and drops the rest; what reads see stays.
  mutating func loseUnsynced(_ inode: Int) {
    inodes[inode].durable = torn(inodes[inode])
    inodes[inode].unsynced = []
  }

  mutating func reboot() {
    for inode in inodes.indices {
      let bytes = torn(inodes[inode])
      inodes[inode] = Inode(visible: bytes, durable: bytes)
    }
    let chance = random.next() % 5
    for change in nameChanges where random.next() % 4 < chance { change.apply(to: &durableNames) }
    (names, nameChanges, locks, faults, errorOfAll) = (durableNames, [], [], [:], nil)
    (isOff, isKilled) = (false, false)
    calls = 0
    epoch += 1
  }

  private mutating func torn(_ inode: Inode) -> [UInt8] {
    var bytes = inode.durable
    // None of it, some of it, or all.
    let chance = random.next() % 5
    let piece = random.next() % 2 == 0 ? 1 : 512
    for change in inode.unsynced {
      let (offset, new) = (change.offset, change.new)
      var start = 0
      while start < new.count {
        let end = min(new.count, (offset + start) / piece * piece + piece - offset)
        if random.next() % 4 < chance {
          Write(offset: offset + start, new: Array(new[start..<end])).apply(to: &bytes)
        }
        start = end
      }
    }
    // The length may be on disk without the bytes.
    if bytes.count < inode.visible.count, random.next() % 4 == 0 {
      let filler: UInt8 = random.next() % 2 == 0 ? 0 : 0xA5
      bytes += [UInt8](repeating: filler, count: inode.visible.count - bytes.count)
    }
    return bytes
  }
}
