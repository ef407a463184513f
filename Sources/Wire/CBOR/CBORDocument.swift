/// One CBOR data item, wholly checked: what `CBORDocument.parse` accepts is well-formed, deterministic in its
/// heads (RFC 8949 §4.2.1), and within limits; what it holds are ranges of the input, never copies.
package struct CBORDocument: Sendable {
  package enum Kind: Equatable, Sendable {
    case unsigned(UInt64)
    /// The number is -1 - argument.
    case negative(UInt64)
    case bytes(Range<Int>)
    case text(Range<Int>)
    case array(count: Int)
    case map(pairs: Int)
  }

  /// One data item of the document, by its place in it.
  package struct Item: Equatable, Sendable {
    fileprivate let index: Int
    package let kind: Kind
  }

  struct Node: Sendable {
    let kind: Kind
    /// Index of the first node after this one and everything in it.
    var end: Int
  }

  /// In the order of the encoding: each container before what it contains.
  private let nodes: [Node]

  init(nodes: [Node]) {
    self.nodes = nodes
  }

  package var root: Item { Item(index: 0, kind: nodes[0].kind) }

  /// The elements of an array; none of anything else.
  package func elements(of item: Item) -> [Item] {
    guard case .array = item.kind else { return [] }
    return children(of: item)
  }

  /// The pairs of a map, in their order; none of anything else.
  package func pairs(of item: Item) -> [(key: Range<Int>, value: Item)] {
    guard case .map = item.kind else { return [] }
    let children = children(of: item)
    var pairs: [(key: Range<Int>, value: Item)] = []
    pairs.reserveCapacity(children.count / 2)
    for index in stride(from: 0, to: children.count - 1, by: 2) {
      guard case .text(let key) = children[index].kind else {
        fatalError("CBORDocument: a key that is not text")
      }
      pairs.append((key, children[index + 1]))
    }
    return pairs
  }

  private func children(of item: Item) -> [Item] {
    var children: [Item] = []
    var index = item.index + 1
    while index < nodes[item.index].end {
      children.append(Item(index: index, kind: nodes[index].kind))
      index = nodes[index].end
    }
    return children
  }
}
