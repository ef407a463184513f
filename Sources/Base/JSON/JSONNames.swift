/// The member names of one object, as bytes: two spellings that differ in bytes are two names, whatever
/// Unicode says about their looks.
package struct JSONNames: Sendable {
  private var few: [[UInt8]] = []
  private var many: Set<[UInt8]> = []

  package init() {}

  /// False when the name was there.
  package mutating func insert(_ name: [UInt8]) -> Bool {
    if many.isEmpty {
      if few.contains(name) { return false }
      few.append(name)
      // Comparing each with each is quickest while they are few; beyond that it must not be quadratic.
      if few.count > 16 { many = Set(few) }
      return true
    }
    return many.insert(name).inserted
  }
}
