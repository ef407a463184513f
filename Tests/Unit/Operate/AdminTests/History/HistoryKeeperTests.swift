/// The history's file: what is written is found by the next process, whatever else is in its place.
import Glibc
import Kit
import Metrics
import PortcullisProtocol
import Synchronization
import System
import Testing
import Time

@testable import Admin

@Suite struct HistoryKeeperTests {
  /// What a gate has counted, and what it was given and told.
  private final class Counted: Sendable {
    struct State {
      var history = HistoryOnFile(startedAt: UnixTime(milliseconds: 0), minutes: [])
      var given: [HistoryMinute]?
      var told: [HistoryKeeper.Event] = []
    }
    private let state = Mutex(State())

    var gate: HistoryKeeper.Gate {
      HistoryKeeper.Gate(
        onFile: { _ in self.state.withLock { $0.history } },
        goOn: { minutes, _ in self.state.withLock { $0.given = minutes } },
        tell: { event in self.state.withLock { $0.told.append(event) } })
    }
    var given: [HistoryMinute]? { state.withLock { $0.given } }
    var told: [HistoryKeeper.Event] { state.withLock { $0.told } }

    /// It was started at `startedAt` and has run for so many minutes.
    func count(_ minutes: Int, players: Int = 1, startedAt: Int64 = 1_800_000_000_000) -> [HistoryMinute] {
      let history = HistoryOnFile(
        startedAt: UnixTime(milliseconds: startedAt),
        minutes: (0..<minutes).suffix(2880).map { number in
          var period = HistoryPeriod()
          period.mostPlayers = number == minutes - 1 ? players : 1
          return HistoryMinute(
            begin: UnixTime(milliseconds: startedAt + Int64(number) * 60_000),
            startedAt: number == 0 ? UnixTime(milliseconds: startedAt) : nil, period: period,
            refusals: [])
        })
      state.withLock { $0.history = history }
      return history.minutes
    }
  }

  private let now = UnixTime(milliseconds: 1_800_000_000_000)
  private let folder: TestFolder
  private let counted = Counted()
  private var path: String { folder.path + "/keys.json.history" }

  init() throws { folder = try TestFolder("admin-") }

  private func writer() -> HistoryWriter { HistoryWriter(path: path, gate: counted.gate) }

  /// By another process.
  private func found() throws -> [HistoryMinute]? {
    let other = Counted()
    var writer = HistoryWriter(path: path, gate: other.gate)
    writer.read(at: now)
    #expect(other.told.isEmpty)
    return other.given?.sorted { $0.begin < $1.begin }
  }

  private func inode() throws -> UInt64 { try FileStatus.of(path).inode }

  @Test func aThreadKeepsItUntilItStops() throws {
    let minutes = counted.count(1)
    let keeper = HistoryKeeper(path: path, gate: counted.gate, clock: ManualClock(wall: 1_800_000_000_000))
    try keeper.begin()
    let more = counted.count(2, players: 7)
    #expect(more.count > minutes.count)
    keeper.stop()
    #expect(try found() == more)
    #expect(try FileStatus.of(path).mode & 0o777 == 0o600)
    #expect(counted.told.isEmpty)
  }

  @Test func eachMinuteGoesToItsPlace() throws {
    var writer = writer()
    writer.read(at: now)
    #expect(counted.given == nil)
    _ = counted.count(1)
    writer.write(at: now)
    let file = try inode()
    // Around the moment at which the first place is written over, and far behind it.
    for number in [1, 1, 2, 3, 3, 7] + (2877...2883) + [4000, 4001, 5999, 6000] {
      let minutes = counted.count(number, players: number)
      writer.write(at: now)
      #expect(try found() == minutes)
    }
    #expect(try inode() == file && counted.told.isEmpty)
  }

  @Test func aClockThatIsSetWritesAllAnew() throws {
    var writer = writer()
    _ = counted.count(3)
    writer.write(at: now)
    let file = try inode()
    _ = counted.count(4, startedAt: 1_800_000_000_900)
    writer.write(at: now)
    #expect(try inode() == file)
    let minutes = counted.count(5, startedAt: 1_800_003_600_000)
    writer.write(at: now)
    #expect(try inode() != file && found() == minutes)
  }

  @Test func aFileThatIsGoneComesBackWhole() throws {
    var writer = writer()
    _ = counted.count(3)
    writer.write(at: now)
    try FileNames.remove(path)
    let minutes = counted.count(4)
    writer.write(at: now)
    #expect(try found() == minutes)
    // Cut off, or another's.
    try WholeFile.write(Array("short".utf8), to: path, mode: 0o600, overwriting: true)
    writer.write(at: now)
    #expect(try found() == minutes)
  }

  @Test func aDamagedFileGivesWay() throws {
    var text = HistoryFile.text([])
    text[100] ^= 1
    try WholeFile.write(text, to: path, mode: 0o600, overwriting: false)
    var writer = writer()
    writer.read(at: now)
    #expect(counted.told == [.unread(.damaged)] && counted.given == nil)
    let minutes = counted.count(2)
    writer.write(at: now)
    #expect(try found() == minutes)
  }

  @Test func whatIsSomebodyElsesStays() throws {
    let other = Array("{\"notes\": []}".utf8)
    try WholeFile.write(other, to: path, mode: 0o600, overwriting: false)
    var writer = writer()
    writer.read(at: now)
    _ = counted.count(2)
    writer.write(at: now)
    #expect(try WholeFile.read(path) == other)
    #expect(counted.told == [.notOurs("it is no history of a gate")])
  }

  @Test(arguments: ["link", "pipe", "folder"]) func nothingButAFileIsTouched(kind: String) throws {
    let target = folder.path + "/target"
    try WholeFile.write(HistoryFile.text(counted.count(2)), to: target, mode: 0o600, overwriting: false)
    let before = try WholeFile.read(target)
    switch kind {
    case "link": #expect(unsafe symlink(target, path) == 0)
    case "pipe": #expect(unsafe mkfifo(path, 0o600) == 0)
    default: #expect(unsafe mkdir(path, 0o700) == 0)
    }
    defer { if kind == "folder" { _ = unsafe rmdir(path) } }
    var writer = writer()
    writer.read(at: now)
    _ = counted.count(3)
    writer.write(at: now)
    #expect(counted.given == nil && counted.told.count == 1)
    #expect(try WholeFile.read(target) == before)
  }

  @Test func troubleIsToldOnce() throws {
    let missing = folder.path + "/later"
    var writer = HistoryWriter(path: missing + "/history", gate: counted.gate)
    let minutes = counted.count(2)
    for _ in 0..<5 { writer.write(at: now) }
    #expect(counted.told.count == 1)
    #expect(unsafe mkdir(missing, 0o700) == 0)
    for _ in 0..<5 { writer.write(at: now) }
    #expect(counted.told.count == 2 && counted.told.last == .written)
    let text = try WholeFile.read(missing + "/history")
    #expect(try HistoryFile.parse(text.span) == minutes)
    try FileNames.remove(missing + "/history")
    _ = unsafe rmdir(missing)
    for _ in 0..<5 { writer.write(at: now) }
    #expect(counted.told.count == 3)
  }
}
