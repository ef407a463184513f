/// Android key attestations (docs/android.md, "Key attestation"): descriptions of keys, and leaves around them.
///
/// An input that reads as a certificate is a leaf, and verified under the authority's chain as it is, and once more after the
/// authority has signed it as it stands. Another one is a description, and put into a leaf.
@testable internal import AndroidKey
internal import Bytes
internal import Crypto
@testable internal import X509

enum AndroidKeyHarness {
  private static let authority = AndroidKeyAuthority.shared
  /// What the authority has signed of itself: all that may pass as it came.
  private static let signed = Set(AndroidKeySeeds.descriptions.map { body(of: authority.leaf($0)) })

  static func check(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    // A fact about anything: reading it ends, and what it says is printable.
    for fact in ChainFacts.all(of: [bytes]) {
      try require(fact.value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "a line is broken by \(fact.name)")
    }
    if (try? ChainCertificate(bytes, place: 0)) != nil { return try checkLeaf(bytes) }
    return try checkDescription(bytes)
  }

  private static func checkDescription(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    guard isDescription(bytes) else { return .refused }
    try require(!isDescription(Array(bytes.dropLast())), "read when cut")
    try require(!isDescription(bytes + [0]), "read with a byte behind it")
    try checkSigned(authority.leaf(bytes), bytes)
    return .accepted
  }

  private static func checkLeaf(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    let passes = verify(bytes) != nil
    if passes { try require(signed.contains(body(of: bytes)), "forged: \(Hex.encode(bytes.span))") }
    guard let leaf = signedAnew(bytes), let parsed = try? ChainCertificate(leaf, place: 0),
      let range = parsed.description
    else { return passes ? .accepted : .refused }
    try checkSigned(leaf, Array(parsed.parsed.der[range]))
    return passes ? .accepted : .refused
  }

  /// A leaf that is properly signed: if it passes, then for what its description says.
  private static func checkSigned(_ leaf: [UInt8], _ description: [UInt8]) throws(BrokenProperty) {
    guard let verdict = verify(leaf) else { return }
    guard let plain = PlainDER.read(description) else { throw BrokenProperty("passes, and is no DER") }
    try PlainDescription.check(plain, verdict)
  }

  private static func verify(_ leaf: [UInt8]) -> AndroidKeyVerdict? {
    try? AndroidKeyVerifier().verify(
      chain: [leaf] + authority.above, challenge: AndroidKeyAuthority.challenge, key: authority.point,
      policy: authority.policy)
  }

  private static func isDescription(_ bytes: [UInt8]) -> Bool {
    (try? KeyDescription(bytes.span, in: 0..<bytes.count)) != nil
  }

  private static func body(of certificate: [UInt8]) -> [UInt8] {
    guard let parsed = try? ChainCertificate(certificate, place: 0) else { return [] }
    return Array(parsed.parsed.der[parsed.parsed.toBeSigned])
  }

  private static func signedAnew(_ certificate: [UInt8]) -> [UInt8]? {
    guard let parsed = try? ChainCertificate(certificate, place: 0) else { return nil }
    let message = Array(parsed.parsed.der[parsed.parsed.toBeSigned])
    let algorithm = Array(parsed.parsed.der[parsed.parsed.signatureAlgorithmIdentifier])
    return DERWriter.sequence(message, algorithm, DERWriter.bitString(authority.sign(message)))
  }
}

/// DER as plainly as it can be read: what is no DER need not be found out here.
private struct PlainDER {
  /// The tag's first byte, and its number.
  let first: UInt8
  let number: Int
  let content: [UInt8]

  /// One element that is all of the bytes.
  static func read(_ bytes: [UInt8]) -> PlainDER? {
    guard let all = sequence(bytes), all.count == 1 else { return nil }
    return all[0]
  }

  /// Those within, nil where there are none.
  var members: [PlainDER]? { first & 0x20 == 0 ? nil : Self.sequence(content) }

  private static func sequence(_ bytes: [UInt8]) -> [PlainDER]? {
    var rest = bytes[...]
    var elements: [PlainDER] = []
    while let first = rest.popFirst() {
      var number = Int(first & 0x1F)
      if number == 0x1F {
        number = 0
        while let digit = rest.popFirst() {
          number = number << 7 | Int(digit & 0x7F)
          if digit < 0x80 || number > 1 << 28 { break }
        }
      }
      guard var length = rest.popFirst().map(Int.init) else { return nil }
      if length > 0x80 {
        let count = length - 0x80
        guard count <= 2, rest.count >= count else { return nil }
        length = rest.prefix(count).reduce(0) { $0 << 8 | Int($1) }
        rest = rest.dropFirst(count)
      }
      guard rest.count >= length else { return nil }
      elements.append(PlainDER(first: first, number: number, content: Array(rest.prefix(length))))
      rest = rest.dropFirst(length)
    }
    return elements
  }
}

/// The rules of the description once more.
private enum PlainDescription {
  static func check(_ description: PlainDER, _ verdict: AndroidKeyVerdict) throws(BrokenProperty) {
    guard let parts = description.members, parts.count == 8 else { throw BrokenProperty("not eight parts") }
    try require(parts[1].content == [1] && parts[3].content == [1], "the level is not the environment's")
    try require(parts[4].content == AndroidKeyAuthority.challenge.array, "another challenge")
    let software = try entries(parts[6])
    let hardware = try entries(parts[7])
    try require(hardware[702]?.content == [0], "not generated")
    guard let root = hardware[704]?.members, root.count >= 3 else { throw BrokenProperty("no root of trust") }
    // Any octet but zero says that it is locked.
    try require(
      root[1].content.count == 1 && root[1].content != [0] && root[2].content == [0],
      "unlocked, or not verified")
    let purposes = hardware[1]?.members?.map(\.content) ?? []
    try require(purposes.contains([2]) && !purposes.contains([7]), "does not sign, or attests")
    try require(hardware[2]?.content == [3], "no elliptic curve")
    try require(hardware[3].map { $0.content == [1, 0] } ?? true, "not of 256 bits")
    try require(hardware[10].map { $0.content == [1] } ?? true, "another curve")
    try require(software[600] == nil && hardware[600] == nil, "for all applications")
    let application = PlainDER.read(software[709]?.content ?? [])?.members ?? []
    guard application.count == 2, let packages = application[0].members, let digests = application[1].members
    else { throw BrokenProperty("no application") }
    let name = Array(AndroidKeyAuthority.package.utf8)
    try require(packages.contains { $0.members?.first?.content == name }, "another application")
    try require(verdict.package == AndroidKeyAuthority.package, "another application is told")
    try require(
      !digests.isEmpty && digests.allSatisfy { $0.content == AndroidKeyAuthority.digest.array },
      "another signer")
    let mayDoWithout = [503, 505].contains { software[$0] != nil || hardware[$0] != nil }
    let takesBiometrics = (hardware[504]?.content.last ?? 0) & 2 != 0
    try require(verdict.hasUserVerification == (!mayDoWithout && takesBiometrics), "who unlocks it")
    try require(verdict.patch.map { (1...12).contains($0 % 100) } ?? true, "no month")
  }

  private static func entries(_ list: PlainDER) throws(BrokenProperty) -> [Int: PlainDER] {
    var entries: [Int: PlainDER] = [:]
    for entry in list.members ?? [] {
      guard let values = entry.members, values.count == 1 else { throw BrokenProperty("not one value") }
      try require(entries.updateValue(values[0], forKey: entry.number) == nil, "\(entry.number) twice")
    }
    return entries
  }
}
