/// The serial numbers of attestation certificates that are not to be trusted, from the list that Google publishes
/// (Android, "Verify hardware-backed key pairs with key attestation", "Certificate revocation status list").
internal import Bytes
package import JSON

package enum RevocationListError: Error, Equatable, Sendable {
  case tooLarge
  case json(JSONError)
  /// There is no object `entries`, or there are two.
  case entries
  /// The name of an entry is not hexadecimal.
  case serial
  /// An entry is no object with a text `status`.
  case status
}

package struct RevocationList: Equatable, Sendable {
  private let serials: Set<CertificateSerial>

  /// Seconds by which a list may come from the future.
  private static let clockTolerance: Int64 = 300

  /// Whether a list may be gone by that is so many seconds old; negative where it is of a time to come.
  package static func isCurrent(age: Int64, maximum: Int64) -> Bool {
    -clockTolerance <= age && age <= maximum
  }

  package static let empty = RevocationList(serials: [])

  private init(serials: Set<CertificateSerial>) {
    self.serials = serials
  }

  /// `{"entries": {"<hexadecimal serial>": {"status": "…", …}, …}, …}`. Whoever is listed counts, whatever the status says
  /// and until when: trust does not come back by a date.
  package init(json: Span<UInt8>) throws(RevocationListError) {
    guard json.count <= Self.maximumBytes else { throw .tooLarge }
    var reading = RevocationReading()
    do throws(JSONError) {
      var reader = JSONReader(json, depthLimit: Self.maximumDepth)
      try reading.list(&reader)
      try reader.finish()
    } catch {
      throw reading.fault ?? .json(error)
    }
    guard let serials = reading.serials else { throw .entries }
    self.serials = serials
  }

  package var count: Int { serials.count }
  /// In no order.
  package var all: some Collection<CertificateSerial> { serials }

  package func contains(_ serial: CertificateSerial) -> Bool { serials.contains(serial) }

  /// Google's had some hundred kilobytes for years.
  package static let maximumBytes = 16 * 1024 * 1024
  private static let maximumDepth = 16
}

/// What has been read of a list, and the rule that is broken where JSON itself is well.
private struct RevocationReading {
  var serials: Set<CertificateSerial>?
  var fault: RevocationListError?

  private static let entriesName = Array("entries".utf8)
  private static let statusName = Array("status".utf8)

  mutating func list(_ reader: inout JSONReader) throws(JSONError) {
    try enterObject(&reader, else: .entries)
    while let name = try reader.nextMember() {
      guard reader.matches(name, Self.entriesName) else {
        _ = try reader.skipValue()
        continue
      }
      guard serials == nil else { throw broken(.entries, reader) }
      serials = []
      try entries(&reader)
    }
  }

  private mutating func entries(_ reader: inout JSONReader) throws(JSONError) {
    try enterObject(&reader, else: .entries)
    while let name = try reader.nextMember() {
      let digits = reader.unescaped(name)
      guard let serial = CertificateSerial(hex: digits.span) else { throw broken(.serial, reader) }
      serials?.insert(serial)
      try entry(&reader)
    }
  }

  private mutating func entry(_ reader: inout JSONReader) throws(JSONError) {
    try enterObject(&reader, else: .status)
    var hasStatus = false
    while let name = try reader.nextMember() {
      if reader.matches(name, Self.statusName) {
        guard reader.peek() == UInt8(ascii: "\"") else { throw broken(.status, reader) }
        hasStatus = true
      }
      _ = try reader.skipValue()
    }
    guard hasStatus else { throw broken(.status, reader) }
  }

  private mutating func enterObject(
    _ reader: inout JSONReader, else fault: RevocationListError
  ) throws(JSONError) {
    guard reader.peek() == UInt8(ascii: "{") else { throw broken(fault, reader) }
    try reader.enterObject()
  }

  private mutating func broken(_ fault: RevocationListError, _ reader: borrowing JSONReader) -> JSONError {
    self.fault = fault
    return JSONError(.unsuitable, at: reader.position)
  }
}
