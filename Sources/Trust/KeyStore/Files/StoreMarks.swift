/// Small files beside the store that say what was once made: a snapshot or a key that is missing later was lost
/// (docs/key-store.md, "A store that is gone").
internal import System
internal import Time

struct StoreMarks {
  let files: any StoreFiles
  let paths: StorePaths

  /// A file that is there only where there was a store; nil when nothing shows that.
  /// - Parameters:
  ///   - hadLock: the lock's file was there before anybody took it now.
  ///   - witness: a file that the first start makes after the store's lock.
  func evidence(hadLock: Bool, witness: String?) throws(SystemError) -> String? {
    if try files.identity(of: paths.made) != nil { return paths.made }
    // Stores of versions before the mark.
    if hadLock, let witness, try files.identity(of: witness) != nil { return witness }
    return nil
  }

  /// Nil where none was ever noted, in this file or in the snapshot.
  /// - Parameter old: of the snapshot's line, where versions before this file have it.
  func pseudonymKeyMadeAt(old: Int64) throws(SystemError) -> UnixTime? {
    guard try files.identity(of: paths.pseudonymMade) != nil else { return UnixTime(noted: old) }
    let text = String(decoding: try files.open(paths.pseudonymMade, .read).readAll(), as: UTF8.self)
    // What somebody has edited still says that there was a key.
    return UnixTime(timestamp: String(text.prefix { $0 != "\n" })) ?? UnixTime(milliseconds: 0)
  }

  func noteStore(now: UnixTime) throws(SystemError) { try write(paths.made, now) }

  func notePseudonymKey(now: UnixTime) throws(SystemError) { try write(paths.pseudonymMade, now) }

  /// Whole and durable when this returns; one that is there already stays.
  private func write(_ path: String, _ time: UnixTime) throws(SystemError) {
    if try files.identity(of: path) != nil { return }
    let temporary = path + ".new"
    // Left over by a crash.
    if try files.identity(of: temporary) != nil { try files.remove(temporary) }
    let file = try files.open(temporary, .create)
    try file.writeAll(Array("\(time.timestamp)\n".utf8).span, at: 0)
    try file.synchronize()
    try files.rename(temporary, to: path)
    try files.synchronizeDirectory(paths.directory)
  }
}
