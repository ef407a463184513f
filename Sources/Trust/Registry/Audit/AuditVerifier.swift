/// Follows the chain row by row, and says where it breaks. Pure: rows may come from a store or from an export.
internal import Bytes
internal import DeviceWire
internal import JSON

package struct AuditVerifier: Sendable {
  package enum Fault: String, Error, Equatable, Sendable {
    /// A row is missing, or there twice.
    case sequence
    /// The row's hash does not follow from the one before and its own text.
    case hash
    /// The row's time is not the one in its text.
    case time
    /// The head names another hash for its row.
    case head = "head_hash"
    /// The row that the head names is gone from the end.
    case tail = "head_beyond_end"
    /// The row that the head names was thrown away long ago: nothing can be said.
    case pruned = "head_before_beginning"
    /// Rows are gone from the front that no row of a pruning names.
    case beginning = "beginning_unnamed"
    /// Nobody here has signed the head.
    case signature = "head_signature"
  }

  package private(set) var end: AuditEnd
  package private(set) var rows = 0
  package private(set) var erased = 0
  /// The head that the chain has to lead through.
  private let head: AuditEnd?
  private var hasMetHead: Bool
  private let beginning: AuditEnd
  /// What the last pruning says that it has thrown away, to be met by where the rows begin.
  private var pruned: AuditEnd?

  /// - Parameter beginning: where the rows that are kept begin.
  package init(from beginning: AuditEnd, through head: AuditEnd? = nil) {
    end = beginning
    self.beginning = beginning
    self.head = head
    hasMetHead = head == nil || head == beginning
  }

  package mutating func follow(_ row: AuditRow) throws(Fault) {
    guard row.sequence == end.sequence + 1 else { throw .sequence }
    let next = end.following(row.digest)
    guard row.hash == next.hash else { throw .hash }
    switch row.content {
    case .erased: erased += 1
    case .text(let text, _):
      let object = (try? JSONValue(parsing: text.span, depthLimit: 4))?.object
      guard object?["at"]?.integer == row.at.value else { throw .time }
      if let named = object.flatMap(AuditEnd.init(prunedBy:)) { pruned = named }
    }
    end = next
    rows += 1
    if let head, head.sequence == end.sequence {
      guard head == end else { throw .head }
      hasMetHead = true
    }
  }

  /// The last row that a pruning has thrown away, as its own row says; nil for any other row.
  static func pruned(by row: AuditRow) -> AuditEnd? {
    guard case .text(let text, _) = row.content else { return nil }
    return (try? JSONValue(parsing: text.span, depthLimit: 4))?.object.flatMap(AuditEnd.init(prunedBy:))
  }

  /// After the last row.
  package func finish() throws(Fault) {
    if let head, !hasMetHead { throw head.sequence > end.sequence ? .tail : .pruned }
    guard beginning.sequence > 0 else { return }
    // One that was cut short has thrown away less than it says.
    guard let pruned, pruned.sequence >= beginning.sequence else { throw .beginning }
    guard pruned.sequence > beginning.sequence || pruned == beginning else { throw .beginning }
  }
}

extension AuditEnd {
  /// The last row that a pruning has thrown away, as its own row says; nil for any other row.
  fileprivate init?(prunedBy row: JSONObject) {
    guard row["event"]?.string == AuditEntry.Event.pruned.word, let sequence = row["through"]?.integer,
      let hash = row["through_hash"]?.string.flatMap({ Bytes32(hex: $0) })
    else { return nil }
    self.init(sequence: sequence, hash: hash)
  }

  /// The same for that row.
  var named: [AuditEntry.Member] {
    [.number("through", sequence), .word("through_hash", hash.hex)]
  }
}
