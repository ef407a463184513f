/// Seeds of key attestations: descriptions made from values, and leaves that the harness's authority signs.
internal import Bytes
internal import Crypto

enum AndroidKeySeeds {
  /// Of a good key in general, and of one that a person unlocks.
  static let descriptions = [
    description(), description(hardware: [503: nil, 504: DERWriter.integer(2)]),
  ]

  static func description(
    hardware changes: [UInt32: [UInt8]?] = [:], software: [UInt32: [UInt8]?] = [:], level: UInt8 = 1
  ) -> [UInt8] {
    let root = DERWriter.sequence(
      DERWriter.octetString([1, 2, 3]), DERWriter.boolean(true), [0x0A, 1, 0], DERWriter.octetString([4]))
    let application = DERWriter.sequence(
      DERWriter.set(
        DERWriter.sequence(
          DERWriter.octetString(Array(AndroidKeyAuthority.package.utf8)), DERWriter.integer(7))),
      DERWriter.set(DERWriter.octetString(AndroidKeyAuthority.digest.array)))
    let hardware: [UInt32: [UInt8]?] = [
      1: DERWriter.set(DERWriter.integer(2)), 2: DERWriter.integer(3), 3: DERWriter.integer(256),
      10: DERWriter.integer(1), 503: [5, 0], 702: DERWriter.integer(0), 704: root,
      706: DERWriter.integer(202_609),
    ]
    return DERWriter.sequence(
      DERWriter.integer(300), [0x0A, 1, level], DERWriter.integer(300), [0x0A, 1, level],
      DERWriter.octetString(AndroidKeyAuthority.challenge.array), DERWriter.octetString([]),
      list([709: DERWriter.octetString(application)].merging(software) { $1 }),
      list(hardware.merging(changes) { $1 }))
  }

  private static func list(_ entries: [UInt32: [UInt8]?]) -> [UInt8] {
    let sorted = entries.sorted { $0.key < $1.key }
    return DERWriter.element(
      0x30, sorted.flatMap { number, value in value.map { DERWriter.explicit(number, $0) } ?? [] })
  }
}

extension SignedSeed {
  static let androidKeys: [SignedSeed] = {
    typealias Seeds = AndroidKeySeeds
    let authority = AndroidKeyAuthority.shared
    let leaf = authority.leaf(Seeds.descriptions[0])
    return [
      SignedSeed(.androidKey, "accepted-description", Seeds.descriptions[0]),
      SignedSeed(.androidKey, "accepted-description-of-an-approval-key", Seeds.descriptions[1]),
      SignedSeed(.androidKey, "accepted-description-of-software", Seeds.description(level: 0)),
      SignedSeed(
        .androidKey, "accepted-description-of-an-imported-key",
        Seeds.description(hardware: [702: DERWriter.integer(2)])),
      SignedSeed(
        .androidKey, "accepted-description-with-more",
        Seeds.description(
          hardware: [
            3: nil, 505: DERWriter.integer(300), 719: DERWriter.integer(20_260_901),
            724: DERWriter.octetString([7]),
          ],
          software: [600: [5, 0], 701: DERWriter.integer(1)])),
      SignedSeed(
        .androidKey, "refused-description-twice-the-same",
        Seeds.description(hardware: [702: DERWriter.integer(0) + DERWriter.integer(0)])),
      SignedSeed(
        .androidKey, "refused-description-text-as-number",
        Seeds.description(hardware: [706: DERWriter.utf8String("202609")])),
      SignedSeed(
        .androidKey, "refused-description-empty-application",
        Seeds.description(software: [709: DERWriter.octetString([0x30, 0])])),
      SignedSeed(.androidKey, "accepted-leaf", leaf),
      SignedSeed(.androidKey, "accepted-leaf-of-an-approval-key", authority.leaf(Seeds.descriptions[1])),
      SignedSeed(
        .androidKey, "refused-leaf-of-an-unlocked-phone",
        authority.leaf(
          Seeds.description(hardware: [
            704: DERWriter.sequence(DERWriter.octetString([]), DERWriter.boolean(false), [0x0A, 1, 2])
          ]))),
      SignedSeed(.androidKey, "refused-leaf-signature", Array(leaf.dropLast()) + [leaf[leaf.count - 1] ^ 1]),
      SignedSeed(.androidKey, "refused-authority-as-leaf", authority.above[0]),
    ]
  }()
}
