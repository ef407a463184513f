/// What a `HistoryKeeper` does with its file: reads it once, then writes each minute to its place, or all of them anew where
/// the file is not the one that it wrote before or the clock was set.
internal import Glibc
internal import Metrics
internal import System
internal import Time

struct HistoryWriter {
  /// A clock that was set by less is left to the minutes to come.
  private static let setClock: Int64 = 5000

  private let path: String
  private let gate: HistoryKeeper.Gate
  private var isOurs = true
  private var isInTrouble = false
  /// Nil until the file was written as a whole.
  private var last: Place?

  /// Where the minute is that was running when it was written.
  private struct Place {
    var number: Int
    /// The gate's start, and how far after it the minute began, in milliseconds.
    var startedAt: Int64
    var begin: Int64
  }

  init(path: String, gate: HistoryKeeper.Gate) {
    self.path = path
    self.gate = gate
  }

  // MARK: Reading

  /// - Parameter now: the wall clock's.
  mutating func read(at now: UnixTime) {
    let bytes: [UInt8]
    do throws(SystemError) {
      bytes = try contents()
    } catch {
      if error.number == ENOENT { return }
      isOurs = false
      return gate.tell(.notOurs(error.description))
    }
    do throws(HistoryFileError) {
      gate.goOn(try HistoryFile.parse(bytes.span), now)
    } catch {
      if error == .foreign { isOurs = false }
      gate.tell(error == .foreign ? .notOurs(error.description) : .unread(error))
    }
  }

  /// No link is followed, and nothing but a file is waited for.
  private func contents() throws(SystemError) -> [UInt8] {
    let file = try OwnedDescriptor.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0)
    return try file.read(min(try file.length(), HistoryFile.bytes * 2), at: 0)
  }

  // MARK: Writing

  mutating func write(at now: UnixTime) {
    guard isOurs else { return }
    do throws(SystemError) {
      try write(gate.onFile(now))
      if isInTrouble { gate.tell(.written) }
      isInTrouble = false
    } catch {
      // The next time all of it.
      last = nil
      if !isInTrouble { gate.tell(.unwritten(error)) }
      isInTrouble = true
    }
  }

  private mutating func write(_ history: HistoryOnFile) throws(SystemError) {
    let startedAt = history.startedAt.milliseconds
    if let last, abs(startedAt - last.startedAt) <= Self.setClock, isAsWritten {
      self.last = try writeMinutes(of: history, from: last)
      return
    }
    try WholeFile.write(HistoryFile.text(history.minutes), to: path, mode: 0o600, overwriting: true)
    let begin = (history.minutes.last?.begin.milliseconds ?? startedAt) - startedAt
    let number = min(history.minutes.count, HistoryFile.places) - 1
    last = Place(number: max(number, 0), startedAt: startedAt, begin: begin)
  }

  /// Whether it is still a file of this program's form. Not that nobody has written into it: each minute checks.
  private var isAsWritten: Bool {
    do {
      let file = try OwnedDescriptor.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0)
      return try file.length() == HistoryFile.bytes
        && file.read(HistoryFile.head.count, at: 0) == HistoryFile.head
    } catch {
      return false
    }
  }

  /// The minute that was running the last time, and those since.
  private func writeMinutes(of history: HistoryOnFile, from last: Place) throws(SystemError) -> Place {
    let file = try OwnedDescriptor.open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK, 0)
    var place = last
    place.startedAt = history.startedAt.milliseconds
    for minute in history.minutes {
      let begin = minute.begin.milliseconds - place.startedAt
      if begin < place.begin { continue }
      if begin > place.begin { place.number += 1 }
      place.begin = begin
      try file.write(HistoryFile.text(minute), at: HistoryFile.offset(ofPlace: place.number))
    }
    return place
  }
}
