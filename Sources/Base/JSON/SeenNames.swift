/// The member names of the objects that are open in one text, to find one that comes twice in its object.
///
/// A name costs its bytes and a hash, whatever it holds and however many there are: nothing is copied, and the memory is
/// that of the most names that were open at once. The hash is keyed by the process, so that names that share one cannot be
/// made.
package struct SeenNames: Sendable {
  /// All names of open objects, the innermost object's last.
  private var names: [Seen] = []
  /// Places in `names`, by hash, of the objects with many names; 0 is free. A power of two, at most half full.
  private var table: [UInt32] = []
  private var tableCount = 0

  private struct Seen {
    let hash: Int
    /// Where its contents begin in the text.
    let start: Int
  }

  /// One object, from `open` to `close`.
  package struct Object {
    fileprivate let start: Int
    /// Since when its names are in the table too.
    fileprivate var isLarge = false
  }

  package init() {}

  package func open() -> Object { Object(start: names.count) }

  /// False when the name was there. Objects that were opened within this one are closed.
  package mutating func insert(
    _ name: JSONReader.Text, of object: inout Object, in reader: borrowing JSONReader
  ) -> Bool {
    // Names of several objects share the table, and the same ones shall not crowd one place.
    let hash = reader.hash(of: name) ^ (object.start &* Self.spread)
    let new = Seen(hash: hash, start: name.range.lowerBound)
    if object.isLarge {
      if isInTable(new, of: object, reader) { return false }
    } else {
      for index in object.start..<names.count where isSame(names[index], new, reader) { return false }
      if names.count - object.start == Self.fewNames {
        object.isLarge = true
        for index in object.start..<names.count { place(index) }
      }
    }
    names.append(new)
    if object.isLarge { place(names.count - 1) }
    return true
  }

  package mutating func close(_ object: Object) {
    if object.isLarge {
      for index in object.start..<names.count { clear(index) }
    }
    names.removeLast(names.count - object.start)
  }

  private func isSame(_ one: Seen, _ other: Seen, _ reader: borrowing JSONReader) -> Bool {
    one.hash == other.hash && reader.isSameString(at: one.start, other.start)
  }

  // MARK: The table

  private func isInTable(_ new: Seen, of object: Object, _ reader: borrowing JSONReader) -> Bool {
    var place = new.hash & (table.count - 1)
    while table[place] != 0 {
      let index = Int(table[place]) - 1
      if index >= object.start, isSame(names[index], new, reader) { return true }
      place = (place + 1) & (table.count - 1)
    }
    return false
  }

  private mutating func place(_ index: Int) {
    if 2 * (tableCount + 1) > table.count {
      let old = table
      table = [UInt32](repeating: 0, count: max(64, 4 * old.count))
      for entry in old where entry != 0 { put(entry) }
    }
    tableCount += 1
    put(UInt32(truncatingIfNeeded: index + 1))
  }

  private mutating func put(_ entry: UInt32) {
    var place = home(of: entry)
    while table[place] != 0 { place = (place + 1) & (table.count - 1) }
    table[place] = entry
  }

  /// What lies behind moves up, so that no search ends too soon.
  private mutating func clear(_ index: Int) {
    let mask = table.count - 1
    var hole = names[index].hash & mask
    while Int(table[hole]) != index + 1 { hole = (hole + 1) & mask }
    var next = (hole + 1) & mask
    while table[next] != 0 {
      if (next - home(of: table[next])) & mask >= (next - hole) & mask {
        table[hole] = table[next]
        hole = next
      }
      next = (next + 1) & mask
    }
    table[hole] = 0
    tableCount -= 1
  }

  private func home(of entry: UInt32) -> Int { names[Int(entry) - 1].hash & (table.count - 1) }

  private static let spread = 0x1E37_79B9_7F4A_7C15
  /// Up to here comparing each with each is quickest.
  private static let fewNames = 16
}
