/// What the service manager kept for this process while there was none (sd_listen_fds(3)), each by its name.
internal import Glibc

/// To be taken before the process opens anything: the descriptors are its own by their numbers alone. All of them are
/// close-on-exec from then on, and none outlives this but what was taken out.
package struct StoredDescriptors: ~Copyable {
  private var numbers: [StoredName: Int32]
  /// What nobody here can use, with the names to have them removed by.
  private var strangers: [(number: Int32, name: String?)]

  /// Above what any manager passes: a variable with more names than that cannot be passed.
  private static let limit = 65_536
  /// Behind standard input, output and error.
  static let first: Int32 = 3

  /// Nothing.
  package init() {
    self.init(environment: [], process: 0)
  }

  /// What the process was given, or nothing; the variables are not passed on. Not beside other threads, as those may be
  /// reading the environment.
  package static func take(from environment: [(String, String)], process: Int32) -> StoredDescriptors {
    let stored = StoredDescriptors(environment: environment, process: process)
    for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "LISTEN_PIDFDID"] {
      // The call copies nothing and keeps nothing.
      _ = unsafe unsetenv(name)
    }
    return stored
  }

  /// Meant for another process, or not as the manager would say it: none of it is ours, and nothing is touched.
  init(environment: [(String, String)], process: Int32, first: Int32 = Self.first) {
    numbers = [:]
    strangers = []
    guard let wanted = ServiceManager.value("LISTEN_PID", environment), Int32(wanted) == process,
      let text = ServiceManager.value("LISTEN_FDS", environment), let count = Int(text),
      (1...Self.limit).contains(count)
    else { return }
    var names = (ServiceManager.value("LISTEN_FDNAMES", environment) ?? "")
      .split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    // Which name would be whose?
    if names.count != count { names = [] }
    let twice = Self.twice(names)
    for index in 0..<count {
      let number = first + Int32(index)
      let name = index < names.count ? names[index] : nil
      guard fcntl(number, F_SETFD, FD_CLOEXEC) == 0 else { continue }
      if let name, !twice.contains(name), let known = StoredName(name), Self.fits(number, known) {
        numbers[known] = number
      } else {
        strangers.append((number, name))
      }
    }
  }

  deinit {
    for number in numbers.values { _ = close(number) }
    for stranger in strangers { _ = close(stranger.number) }
  }

  /// Two of one name: neither is sure to be the one that was meant last.
  private static func twice(_ names: [String]) -> Set<String> {
    var (once, twice): (Set<String>, Set<String>) = ([], [])
    for name in names where !once.insert(name).inserted { twice.insert(name) }
    return twice
  }

  /// Sockets where sockets are expected, and do not make their reader wait; files where memory is.
  private static func fits(_ number: Int32, _ name: StoredName) -> Bool {
    var status = stat()
    guard unsafe fstat(number, &status) == 0 else { return false }
    switch name {
    case .slots, .over: return status.st_mode & S_IFMT == S_IFREG
    case .leg, .listener:
      guard status.st_mode & S_IFMT == S_IFSOCK, isListening(number) == name.isListener else { return false }
      let flags = fcntl(number, F_GETFL)
      return flags >= 0 && fcntl(number, F_SETFL, flags | O_NONBLOCK) == 0
    }
  }

  private static func isListening(_ number: Int32) -> Bool {
    var answer: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    return unsafe getsockopt(number, SOL_SOCKET, SO_ACCEPTCONN, &answer, &length) == 0 && answer != 0
  }

  // MARK: Taking

  package var isEmpty: Bool { numbers.isEmpty && strangers.isEmpty }

  /// Indices of the listeners that are still here, the lowest first.
  package var listeners: [Int] {
    numbers.keys.compactMap { if case .listener(let index) = $0 { index } else { nil } }.sorted()
  }

  /// Slots of the legs that are still here, the lowest first.
  package var legs: [Int] {
    numbers.keys.compactMap { if case .leg(let slot) = $0 { slot } else { nil } }.sorted()
  }

  /// Each can be taken once; the manager keeps its duplicate.
  package mutating func take(_ name: StoredName) -> OwnedDescriptor? {
    numbers.removeValue(forKey: name).map { OwnedDescriptor(owning: $0) }
  }

  package mutating func takeListener(_ index: Int) -> OwnedDescriptor? { take(.listener(index)) }
  package mutating func takeLeg(_ slot: Int) -> OwnedDescriptor? { take(.leg(slot: slot)) }
  package mutating func takeSlots() -> OwnedDescriptor? { take(.slots) }
  package mutating func takeOver() -> OwnedDescriptor? { take(.over) }

  /// Ends what was not taken, here and in the store: a connection is shut down, or its game would not hear of it before
  /// the manager has let go as well.
  /// - Returns: the names of what went, and of what nobody here could use.
  package consuming func end(in store: DescriptorStore?) -> [String] {
    var names: [String] = []
    for (name, number) in numbers {
      if case .leg = name { _ = shutdown(number, Int32(SHUT_RDWR)) }
      names.append(name.description)
    }
    names += strangers.compactMap { $0.name }
    let distinct = Set(names.filter(Self.isSpeakable)).sorted()
    for name in distinct { try? store?.remove(named: name) }
    return distinct
  }

  /// What a store takes for a name, and does not begin another assignment.
  private static func isSpeakable(_ name: String) -> Bool {
    (1...255).contains(name.utf8.count) && name.utf8.allSatisfy { (0x21..<0x7F).contains($0) }
  }
}

extension StoredName {
  fileprivate var isListener: Bool { if case .listener = self { true } else { false } }
}
