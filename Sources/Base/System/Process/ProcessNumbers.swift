/// What the kernel knows of this process (proc_pid_stat(5), getrlimit(2)): what every exporter for Prometheus shows.
///
/// What it reads of /proc is open to all: a process that nobody may trace cannot list its own descriptors there.
internal import CLinux
internal import Glibc

package struct ProcessNumbers: Equatable, Sendable {
  /// Of all threads, in user and in kernel mode.
  package var cpuSeconds: Double = 0
  package var residentBytes: Int = 0
  package var openDescriptors: Int = 0
  /// The soft limit.
  package var mostDescriptors: Int = 0
  /// Since 1970.
  package var startedAt: Double = 0

  package init() {}

  /// As it is now. What the kernel does not tell is 0.
  package static func read() -> ProcessNumbers {
    var numbers = ProcessNumbers()
    numbers.cpuSeconds = seconds(of: CLOCK_PROCESS_CPUTIME_ID)
    if let statm = text("/proc/self/statm"), let pages = statm.split(separator: " ").dropFirst().first {
      numbers.residentBytes = (Int(pages) ?? 0) * sysconf(Int32(_SC_PAGESIZE))
    }
    var limit = rlimit()
    // The call fills in one struct of ours.
    if unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
      numbers.mostDescriptors = Int(clamping: limit.rlim_cur)
    }
    numbers.openDescriptors = countDescriptors()
    numbers.startedAt = start ?? 0
    return numbers
  }

  // MARK: Its start

  /// The kernel counts it in ticks since the host's own, by a clock that stands still for nothing.
  private static var start: Double? {
    guard let stat = text("/proc/self/stat"), let ticks = startTicks(in: stat) else { return nil }
    let perSecond = Double(sysconf(Int32(_SC_CLK_TCK)))
    return seconds(of: CLOCK_REALTIME) - seconds(of: CLOCK_BOOTTIME) + Double(ticks) / perSecond
  }

  /// The 22nd field. The second is a name in parentheses, which may hold both spaces and parentheses.
  static func startTicks(in stat: String) -> UInt64? {
    guard let end = stat.lastIndex(of: ")") else { return nil }
    let fields = stat[end...].dropFirst().split(separator: " ")
    return fields.count > 19 ? UInt64(fields[19]) : nil
  }

  // MARK: Descriptors

  /// Since Linux 6.2 the folder's size says how many they are.
  private static func countDescriptors() -> Int {
    var status = stat()
    // The call fills in one struct of ours.
    if unsafe stat("/proc/self/fd", &status) == 0, status.st_size > 0 { return Int(status.st_size) }
    return countDescriptors(below: tableSize)
  }

  /// No number is higher than the kernel has room for.
  private static var tableSize: Int {
    guard let status = text("/proc/self/status") else { return 0 }
    let line = status.split(separator: "\n").first { $0.hasPrefix("FDSize:") }
    return line.flatMap { Int($0.dropFirst("FDSize:".count).drop { $0 == " " || $0 == "\t" }) } ?? 0
  }

  /// poll(2) says of each number whether anything is open there, thousands in one call.
  static func countDescriptors(below end: Int) -> Int {
    var count = 0
    var first = 0
    while first < end {
      let last = min(first + pollsAtOnce, end)
      var polls = (first..<last).map { pollfd(fd: Int32(clamping: $0), events: 0, revents: 0) }
      // The kernel reads and writes as many of them as the array has.
      guard unsafe poll(&polls, UInt(polls.count), 0) >= 0 else { return count }
      count += polls.count { $0.revents & Int16(POLLNVAL) == 0 }
      first = last
    }
    return count
  }

  /// No more than poll(2) takes under the smallest usual limit of descriptors.
  private static let pollsAtOnce = 1024

  // MARK: Reading

  private static func seconds(of clock: clockid_t) -> Double {
    var time = timespec()
    // The call fills in one struct of ours.
    guard unsafe clock_gettime(clock, &time) == 0 else { return 0 }
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  private static func text(_ path: String) -> String? {
    guard let bytes = try? WholeFile.read(path, limit: 16_384) else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }
}
