/// The values of an `AgainCache`, in the order in which they were renewed. To renew one, or to let the oldest go, costs the
/// same however many there are: a game may name ten thousand variables in one breath.
internal import Bytes

struct AgainEntries: Sendable {
  enum Kind: UInt8, Sendable { case gmcp, msdp, mssp }

  struct Entry: Sendable {
    let kind: Kind
    let hasData: Bool
    fileprivate let nameCount: UInt32
    fileprivate let key: Int
    /// The name, then the data.
    fileprivate let bytes: [UInt8]

    init(_ kind: Kind, _ name: Span<UInt8>, _ data: Span<UInt8>?) {
      var bytes: [UInt8] = []
      bytes.reserveCapacity(name.count + (data?.count ?? 0))
      bytes.append(copying: name)
      if let data { bytes.append(copying: data) }
      self.kind = kind
      self.bytes = bytes
      hasData = data != nil
      nameCount = UInt32(clamping: name.count)
      key = AgainEntries.key(kind, name)
    }

    var name: Span<UInt8> {
      @_lifetime(borrow self) get { bytes.span.extracting(0..<Int(nameCount)) }
    }
    var data: Span<UInt8> {
      @_lifetime(borrow self) get { bytes.span.extracting(Int(nameCount)..<bytes.count) }
    }

    var cost: Int { bytes.count + AgainCache.overhead }
  }

  /// The oldest first; nil where one was taken out.
  private var places: [Entry?] = []
  private var placeOfKey: [Int: Int] = [:]
  /// Nothing stands before this place, and no package before the other one.
  private var firstPlace = 0
  private var firstPackage = 0
  private(set) var count = 0
  private(set) var packages = 0
  /// What they take, with what they cost beside.
  private(set) var bytes = 0
  /// How many places were looked at so far.
  private(set) var looks = 0

  /// Those of a kind, the oldest first.
  func each(_ kind: Kind, _ body: (Entry) -> Void) {
    for case let entry? in places where entry.kind == kind { body(entry) }
  }

  func each(_ body: (Entry) -> Void) {
    for case let entry? in places { body(entry) }
  }

  mutating func append(_ entry: Entry) {
    if places.count >= 2 * count + Self.spare { close() }
    placeOfKey[entry.key] = places.count
    places.append(entry)
    count += 1
    bytes += entry.cost
    if entry.kind == .gmcp { packages += 1 }
  }

  mutating func remove(_ kind: Kind, _ name: Span<UInt8>) {
    looks += 1
    // Should another name have the same key, which nobody can bring about, its value is told no more.
    if let place = placeOfKey[Self.key(kind, name)] { remove(at: place) }
  }

  mutating func removeOldest() {
    while firstPlace < places.count, places[firstPlace] == nil {
      firstPlace += 1
      looks += 1
    }
    if firstPlace < places.count { remove(at: firstPlace) }
  }

  mutating func removeOldestPackage() {
    while firstPackage < places.count, places[firstPackage]?.kind != .gmcp {
      firstPackage += 1
      looks += 1
    }
    if firstPackage < places.count { remove(at: firstPackage) }
  }

  mutating func removeAll(_ kind: Kind) {
    for place in places.indices where places[place]?.kind == kind { remove(at: place) }
    close()
  }

  private mutating func remove(at place: Int) {
    guard let entry = places[place] else { return }
    places[place] = nil
    placeOfKey[entry.key] = nil
    count -= 1
    bytes -= entry.cost
    if entry.kind == .gmcp { packages -= 1 }
  }

  /// Leaves no place empty. Whoever appends comes here once in as many times as there are places.
  private mutating func close() {
    looks += places.count
    places = places.filter { $0 != nil }
    placeOfKey.removeAll(keepingCapacity: true)
    for (place, entry) in places.enumerated() {
      if let entry { placeOfKey[entry.key] = place }
    }
    firstPlace = 0
    firstPackage = 0
  }

  /// GMCP's names are compared without case, as its games do.
  private static func key(_ kind: Kind, _ name: Span<UInt8>) -> Int {
    var hasher = Hasher()
    hasher.combine(kind)
    for index in name.indices {
      hasher.combine(kind == .gmcp ? AgainSelection.lowercased(name[index]) : name[index])
    }
    return hasher.finalize()
  }

  /// So few empty places are left as they are.
  private static let spare = 16
}
