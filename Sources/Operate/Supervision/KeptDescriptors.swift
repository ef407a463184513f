/// The descriptors that a supervisor keeps for the next gate, by their names and within bounds.
internal import System

struct KeptDescriptors: ~Copyable {
  /// How many at the most.
  let capacity: Int
  private(set) var entries: [Entry] = []
  private var nameBytes = 0
  private let closer: DescriptorCloser

  struct Entry: Equatable {
    let name: String
    let number: Int32
    let isWatched: Bool
  }

  /// All names together have to fit into one variable of the next process (execve(2), MAX_ARG_STRLEN).
  static let nameLimit = 120_000
  static let longestName = 255

  init(capacity: Int, closer: DescriptorCloser) {
    self.capacity = capacity
    self.closer = closer
  }

  deinit {
    for entry in entries { closer.close(entry.number) }
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
      throw .badName
    }
    remove(name)
    guard entries.count < capacity, nameBytes + name.utf8.count + 1 <= Self.nameLimit else {
      closer.close(descriptor)
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
      throw .failed(error)
    }
  }

  mutating func remove(_ name: String) {
    for entry in entries where entry.name == name { drop(entry) }
  }

  /// What has hung up, as it was watched for that.
  mutating func drop(_ entry: Entry) {
    guard let index = entries.firstIndex(of: entry) else { return }
    entries.remove(at: index)
    nameBytes -= entry.name.utf8.count + 1
    closer.close(entry.number)
  }

  /// As sd_notify(3) has it: printable ASCII without the colon that separates them.
  static func isName(_ name: String) -> Bool {
    (1...longestName).contains(name.utf8.count)
      && name.utf8.allSatisfy { (0x20..<0x7F).contains($0) && $0 != UInt8(ascii: ":") }
  }
}
