/// One tag-length-value of DER (X.690 §8.1), as ranges of the bytes it was read from.
package struct DERTag: Equatable, Sendable {
  /// 0 universal, 1 application, 2 context-specific, 3 private.
  package let tagClass: UInt8
  package let isConstructed: Bool
  package let number: UInt32

  package static func universal(_ number: UInt32, constructed: Bool = false) -> DERTag {
    DERTag(tagClass: 0, isConstructed: constructed, number: number)
  }

  package static func context(_ number: UInt32, constructed: Bool = true) -> DERTag {
    DERTag(tagClass: 2, isConstructed: constructed, number: number)
  }

  package static let boolean = universal(1)
  package static let integer = universal(2)
  package static let bitString = universal(3)
  package static let octetString = universal(4)
  package static let objectIdentifier = universal(6)
  package static let utcTime = universal(23)
  package static let generalizedTime = universal(24)
  package static let sequence = universal(16, constructed: true)
  package static let set = universal(17, constructed: true)
}

package struct DERElement: Equatable, Sendable {
  package let tag: DERTag
  /// Tag and length included.
  package let whole: Range<Int>
  package let content: Range<Int>
}
