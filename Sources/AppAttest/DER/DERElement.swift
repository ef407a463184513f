/// One tag-length-value of DER (X.690 §8.1), as ranges of the bytes it was read from.
struct DERTag: Equatable, Sendable {
  /// 0 universal, 1 application, 2 context-specific, 3 private.
  let tagClass: UInt8
  let isConstructed: Bool
  let number: UInt32

  static func universal(_ number: UInt32, constructed: Bool = false) -> DERTag {
    DERTag(tagClass: 0, isConstructed: constructed, number: number)
  }

  static func context(_ number: UInt32, constructed: Bool = true) -> DERTag {
    DERTag(tagClass: 2, isConstructed: constructed, number: number)
  }

  static let boolean = universal(1)
  static let integer = universal(2)
  static let bitString = universal(3)
  static let octetString = universal(4)
  static let objectIdentifier = universal(6)
  static let utcTime = universal(23)
  static let generalizedTime = universal(24)
  static let sequence = universal(16, constructed: true)
  static let set = universal(17, constructed: true)
}

struct DERElement: Equatable, Sendable {
  let tag: DERTag
  /// Tag and length included.
  let whole: Range<Int>
  let content: Range<Int>
}
