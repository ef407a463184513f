/// One of the two lists of a key's description, those entries of it that are judged (Android, "Key and ID attestation",
/// `AuthorizationList`).
internal import Bytes
internal import X509

/// Absent entries are nil, or false.
struct AuthorizationList {
  private(set) var purposes: [UInt64]?
  private(set) var algorithm: UInt64?
  private(set) var keySize: UInt64?
  private(set) var curve: UInt64?
  private(set) var needsNoAuthentication = false
  /// What unlocks it, as a set of bits.
  private(set) var authenticators: UInt64?
  /// Seconds after an unlocking in which it may be used again.
  private(set) var authenticationTimeout: UInt64?
  private(set) var isForAllApplications = false
  private(set) var origin: UInt64?
  private(set) var rootOfTrust: RootOfTrust?
  private(set) var patch: UInt64?
  private(set) var applicationID: ApplicationID?

  struct RootOfTrust {
    let isLocked: Bool
    let bootState: UInt64
  }

  /// Who holds to the list. Only some entries of each decide anything; of the others, one that cannot be read counts as
  /// absent, since nothing hangs on it.
  enum Enforcer {
    case software, hardware

    fileprivate func decides(_ number: UInt32) -> Bool {
      switch self {
      case .software: [503, 505, 600, 709].contains(number)
      case .hardware: number != 709
      }
    }
  }

  /// `content` is that of the SEQUENCE in `der`, whose heads are known to be DER's. Each entry is `[n] EXPLICIT` around one value, and
  /// no n comes twice: which of two would count? Their order is not judged.
  init(_ der: Span<UInt8>, in content: Range<Int>, of enforcer: Enforcer) throws(DERError) {
    var entries = DERReader(der, in: content)
    var seen: Set<UInt32> = []
    while !entries.isAtEnd {
      let entry = try entries.next()
      guard entry.tag == .context(entry.tag.number), seen.insert(entry.tag.number).inserted else {
        throw .unexpectedTag
      }
      var values = DERReader(der, in: entry.content)
      let value = try values.next()
      try values.expectEnd()
      do throws(DERError) {
        try read(entry.tag.number, value, der)
      } catch {
        if enforcer.decides(entry.tag.number) { throw error }
      }
    }
  }

  /// By the numbers of `keymaster_tag_t`; others may hold anything that has an end.
  private mutating func read(
    _ number: UInt32, _ value: DERElement, _ der: Span<UInt8>
  ) throws(DERError) {
    switch number {
    case 1: purposes = try Self.set(value, der)
    case 2: algorithm = try Self.integer(value, der)
    case 3: keySize = try Self.integer(value, der)
    case 10: curve = try Self.integer(value, der)
    case 503: needsNoAuthentication = try Self.null(value)
    case 504: authenticators = try Self.integer(value, der)
    case 505: authenticationTimeout = try Self.integer(value, der)
    case 600: isForAllApplications = try Self.null(value)
    case 702: origin = try Self.integer(value, der)
    case 704: rootOfTrust = try Self.rootOfTrust(value, der)
    case 706: patch = try Self.integer(value, der)
    case 709:
      guard value.tag == .octetString else { throw .unexpectedTag }
      applicationID = try ApplicationID(der, in: value.content)
    default: break
    }
  }

  /// That it is there is all that it says.
  private static func null(_ value: DERElement) throws(DERError) -> Bool {
    guard value.tag == .null, value.content.isEmpty else { throw .null }
    return true
  }

  private static func integer(_ value: DERElement, _ der: Span<UInt8>) throws(DERError) -> UInt64 {
    guard value.tag == .integer else { throw .unexpectedTag }
    return try DERValue.unsigned(der.extracting(value.content))
  }

  private static func set(_ value: DERElement, _ der: Span<UInt8>) throws(DERError) -> [UInt64] {
    guard value.tag == .set else { throw .unexpectedTag }
    var members = DERReader(der, in: value.content)
    var numbers: [UInt64] = []
    while !members.isAtEnd { numbers.append(try integer(try members.next(), der)) }
    return numbers
  }

  /// SEQUENCE { the boot key's hash, deviceLocked, verifiedBootState, the hash of what was started or not }.
  private static func rootOfTrust(_ value: DERElement, _ der: Span<UInt8>) throws(DERError) -> RootOfTrust {
    guard value.tag == .sequence else { throw .unexpectedTag }
    var fields = DERReader(der, in: value.content)
    _ = try fields.next(.octetString)
    let isLocked = try deviceLocked(der.extracting(try fields.next(.boolean).content))
    let bootState = try DERValue.unsigned(der.extracting(try fields.next(.enumerated).content))
    if !fields.isAtEnd { _ = try fields.next(.octetString) }
    try fields.expectEnd()
    return RootOfTrust(isLocked: isLocked, bootState: bootState)
  }

  /// Any octet but zero is TRUE (BER, X.690 §8.2.2): genuine phones with Keymaster 4 write 01 where DER wants FF. The form
  /// guards nothing here, since these bytes are signed and never encoded again.
  private static func deviceLocked(_ content: Span<UInt8>) throws(DERError) -> Bool {
    guard content.count == 1 else { throw .boolean }
    return content[0] != 0
  }
}
