/// The descriptors that a supervisor keeps for the next gate, by their names and within bounds.
internal import System

struct KeptDescriptors: ~Copyable {
  /// How many at the most.
  let capacity: Int
  private(set) var entries: [Entry] = []
  private var nameBytes = 0
  private let closer: DescriptorCloser
  /// What the gate wanted to be kept and is not, by its name.
  private var refused: Set<String> = []
  /// Barriers that the gate still waits at: they are over when nothing is refused any more.
  private var barriers: [Int32] = []

  struct Entry: Equatable {
    let name: String
    let number: Int32
    let isWatched: Bool
  }

  /// All names together have to fit into one variable of the next process (execve(2), MAX_ARG_STRLEN).
  static let nameLimit = 120_000
  static let longestName = 255
  /// A gate asks at two places, and gives up within seconds.
  static let barrierLimit = 16

  init(capacity: Int, closer: DescriptorCloser) {
    self.capacity = capacity
    self.closer = closer
  }

  deinit {
    for entry in entries { closer.close(entry.number) }
    for barrier in barriers { closer.close(barrier) }
  }

  enum Refusal: Error, Equatable {
    case full
    case badName
    case failed(SystemError)
  }

  /// One of that name that is there already makes room for it.
  mutating func keep(_ descriptor: consuming OwnedDescriptor, _ name: String, isWatched: Bool) throws(Refusal)
  {
    guard Self.isName(name) else {
      closer.close(descriptor)
      refuse(name)
      throw .badName
    }
    dropAll(name)
    guard entries.count < capacity, nameBytes + name.utf8.count + 1 <= Self.nameLimit else {
      closer.close(descriptor)
      refuse(name)
      throw .full
    }
    do throws(SystemError) {
      // Out of the way of the numbers that the next process uses for them.
      let kept = try OwnedDescriptor.duplicate(
        descriptor.number, from: ChildProcess.Program.lowest(count: capacity))
      closer.close(descriptor)
      entries.append(Entry(name: name, number: kept.release(), isWatched: isWatched))
      nameBytes += name.utf8.count + 1
    } catch {
      refuse(name)
      throw .failed(error)
    }
    allow(name)
  }

  mutating func remove(_ name: String) {
    dropAll(name)
    allow(name)
  }

  private mutating func dropAll(_ name: String) {
    for entry in entries where entry.name == name { drop(entry) }
  }

  /// What has hung up, as it was watched for that.
  mutating func drop(_ entry: Entry) {
    guard let index = entries.firstIndex(of: entry) else { return }
    entries.remove(at: index)
    nameBytes -= entry.name.utf8.count + 1
    closer.close(entry.number)
  }

  // MARK: Barriers

  /// What is to be kept under this name is not. More names than may be kept are no more of a reason.
  mutating func refuse(_ name: String) {
    if refused.count <= capacity { refused.insert(name) }
  }

  private mutating func allow(_ name: String) {
    refused.remove(name)
    if refused.isEmpty { endBarriers() }
  }

  /// The gate waits until this is closed. It takes that for a word that all is kept, which is said only where it is true.
  mutating func meet(_ barrier: consuming OwnedDescriptor) {
    if refused.isEmpty { return closer.close(barrier) }
    if barriers.count == Self.barrierLimit { closer.close(barriers.removeFirst()) }
    barriers.append(barrier.release())
  }

  /// The gate that was refused something is gone.
  mutating func forgetRefusals() {
    refused = []
    endBarriers()
  }

  private mutating func endBarriers() {
    for barrier in barriers { closer.close(barrier) }
    barriers = []
  }

  /// As sd_notify(3) has it: printable ASCII without the colon that separates them.
  static func isName(_ name: String) -> Bool {
    (1...longestName).contains(name.utf8.count)
      && name.utf8.allSatisfy { (0x20..<0x7F).contains($0) && $0 != UInt8(ascii: ":") }
  }
}
