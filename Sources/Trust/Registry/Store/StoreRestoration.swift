/// Puts a copy in the place of the store, with the gate stopped (docs/devices-operating.md, "Backup and restore"). What
/// was open in
/// the copy is ended by the gate's next start, which finds that it was restored.
internal import Bytes
internal import DeviceWire
internal import Glibc
internal import SQL
internal import SQLite
internal import System
package import Time

package enum StoreRestoration {
  package enum Failure: Error, Equatable, Sendable, CustomStringConvertible {
    /// Somebody has the store.
    case inUse(String)
    /// The file is no copy of a store, or not a whole one.
    case noCopy(String, reason: String)
    case failed(String, reason: String)

    package var description: String {
      switch self {
      case .inUse(let path): "\(path) is in use: stop the gate first"
      case .noCopy(let path, let reason): "\(path) is no copy of a store: \(reason)"
      case .failed(let path, let reason): "\(path): \(reason)"
      }
    }
  }

  /// What is in the copy, and from when.
  package struct Report: Equatable, Sendable {
    /// The last time that the gate wrote before the copy was made, to the second; nil where there was none.
    package let copiedAt: UnixTime?
    package let activeDevices: Int
    /// Where the store that was there lies now; nil where there was none.
    package let replaced: String?
  }

  /// - Parameters:
  ///   - file: made by `devices backup`, perhaps carried elsewhere and back; it stays as it is.
  ///   - path: of the store.
  package static func restore(_ file: String, to path: String, at now: UnixTime) throws(Failure) -> Report {
    let fresh = path + ".restoring"
    try copy(file, to: fresh)
    do throws(Failure) {
      var report = try lookOver(fresh, of: file, now)
      try leaveAlone(path)
      report = Report(
        copiedAt: report.copiedAt, activeDevices: report.activeDevices, replaced: try keep(path))
      try move(fresh, path)
      try naming(path.folder) { () throws(SystemError) in try FileNames.synchronize(folder: path.folder) }
      return report
    } catch {
      for end in ["", "-wal", "-journal"] { try? FileNames.remove(fresh + end) }
      throw error
    }
  }

  /// The log of a store that is in use is not in the file itself: such a file is none that can be copied.
  private static func copy(_ file: String, to fresh: String) throws(Failure) {
    var log = stat()
    if unsafe lstat(file + "-wal", &log) == 0, log.st_size > 0 {
      throw .noCopy(file, reason: "there is a log beside it, so it is a store in use or one that was killed")
    }
    for end in ["", "-wal", "-journal"] { try? FileNames.remove(fresh + end) }
    let source: OwnedDescriptor
    do throws(SystemError) {
      source = try OwnedDescriptor.open(reading: file)
    } catch {
      throw .noCopy(file, reason: "\(error)")
    }
    do throws(SystemError) {
      let target = try OwnedDescriptor.open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
      var chunk = [UInt8](repeating: 0, count: 1 << 20)
      while true {
        let count = try source.read(into: &chunk)
        if count == 0 { break }
        try target.writeAll(count == chunk.count ? chunk : Array(chunk.prefix(count)))
      }
    } catch {
      throw .failed(fresh, reason: "\(error)")
    }
  }

  /// Opens the copy of the copy, reads all of it, and leaves the mark that the next start looks for.
  private static func lookOver(_ fresh: String, of file: String, _ now: UnixTime) throws(Failure) -> Report {
    do throws(StoreFailure) {
      let store = try RegistryDatabase(fresh)
      defer { store.close() }
      try store.quickCheck()
      return try look(over: store, now)
    } catch {
      switch error {
      case .full(let reason): throw .failed(fresh, reason: reason)
      case .broken(let reason), .inUse(let reason), .constraint(let reason):
        throw .noCopy(file, reason: reason)
      }
    }
  }

  private static func look(over store: RegistryDatabase, _ now: UnixTime) throws(StoreFailure) -> Report {
    do throws(CallFailure) {
      guard try store.value(StoreValue.server) != nil else {
        throw .store(.broken("no gate has ever served with it"))
      }
      let time = try store.value(StoreValue.time).flatMap { UnixTime(bytes: $0) }
      let devices = try store.count(.active)
      // A copy of an earlier program has them, and so has a file that was copied by hand.
      try store.strip()
      try store.setValue(StoreValue.restored, now.bytes)
      return Report(copiedAt: time, activeDevices: devices, replaced: nil)
    } catch {
      throw error.ofStore
    }
  }

  /// Whoever serves with the store has its lock. One that is damaged is nobody's: it may be why a copy is put in its place.
  private static func leaveAlone(_ path: String) throws(Failure) {
    guard WholeFile.exists(path) else { return }
    do throws(SQLError) {
      // Closed at once, and with it its log is moved to the file.
      try Database.open(path).checkpoint()
    } catch {
      if error.kind == .busy { throw .inUse(path) }
    }
  }

  /// Under another name as well, and what may lie beside it under that alone. Its own name is the copy's by one call: whatever
  /// comes between, one of the two is there, as a gate that finds none makes a store in which nobody is revoked.
  private static func keep(_ path: String) throws(Failure) -> String? {
    guard WholeFile.exists(path) else { return nil }
    let old = path + ".replaced"
    for end in ["-wal", "-journal", ""] { try? FileNames.remove(old + end) }
    for end in ["-wal", "-journal"] where WholeFile.exists(path + end) { try move(path + end, old + end) }
    do throws(SystemError) {
      try FileNames.link(path, as: old)
    } catch {
      // A file system without second names.
      try move(path, old)
    }
    return old
  }

  private static func move(_ old: String, _ new: String) throws(Failure) {
    try naming(new) { () throws(SystemError) in try FileNames.move(old, to: new) }
  }

  private static func naming(
    _ path: String, _ body: () throws(SystemError) -> Void
  ) throws(Failure) {
    do throws(SystemError) {
      try body()
    } catch {
      throw .failed(path, reason: "\(error)")
    }
  }
}
