/// The key file as it is written (docs/key-store.md, "Snapshot"): one key a line, so that `grep` and `diff` work on it.
internal import Bytes
internal import Identity
internal import JSON
internal import System
internal import Time

struct SnapshotText {
  private var times = TimestampText()
  private var scratch: [UInt8] = []
  private var isFirst = true
  private var appIDs = QuotedNames()
  private var bundleVersions = QuotedNames()
  private var reasons = QuotedNames()

  /// - Parameter pseudonymKeyMadeAt: a line of its own before the keys, unless it is `KeyTable.Entry.never`.
  mutating func begin(_ bytes: inout [UInt8], pseudonymKeyMadeAt: Int64) {
    bytes.append(contentsOf: "{".utf8)
    guard pseudonymKeyMadeAt != KeyTable.Entry.never else { return }
    isFirst = false
    bytes.append(contentsOf: Self.firstLine + Self.pseudonymKeyMadeAtName + Array("\":\"".utf8))
    times.append(pseudonymKeyMadeAt, to: &bytes)
    bytes.append(UInt8(ascii: "\""))
  }

  func end(_ bytes: inout [UInt8]) {
    bytes.append(contentsOf: "\n}\n".utf8)
  }

  /// - Parameter extra: the members that are not ours, each led by its comma.
  mutating func append(_ entry: KeyTable.Entry, _ names: Shared, extra: [UInt8]?, to bytes: inout [UInt8]) {
    bytes.append(contentsOf: isFirst ? Self.firstLine : Self.nextLine)
    isFirst = false
    append(base64: entry.identifier.digest, nil, to: &bytes)
    bytes.append(contentsOf: Self.publicKeyName)
    Self.append(pem: entry.publicKey, scratch: &scratch, to: &bytes)
    bytes.append(contentsOf: Self.signCountName)
    Self.append(decimal: entry.signCount, to: &bytes)
    bytes.append(contentsOf: Self.registeredAtName)
    times.append(entry.registeredAt, to: &bytes)
    if entry.lastUsedAt != KeyTable.Entry.never {
      bytes.append(contentsOf: Self.lastUsedAtName)
      times.append(entry.lastUsedAt, to: &bytes)
    }
    bytes.append(UInt8(ascii: "\""))
    if let appID = names.appIDs[entry.appID] {
      bytes.append(contentsOf: Self.appIDName)
      appIDs.append(entry.appID, appID, to: &bytes)
    }
    switch entry.environment {
    case nil: break
    case .production: bytes.append(contentsOf: Self.production)
    case .development: bytes.append(contentsOf: Self.development)
    }
    if let category = entry.origin.category {
      bytes.append(contentsOf: Self.categoryName)
      Self.append(decimal: category, to: &bytes)
    }
    if let version = names.bundleVersions[entry.bundleVersion] {
      bytes.append(contentsOf: Self.bundleVersionName)
      bundleVersions.append(entry.bundleVersion, version, to: &bytes)
    }
    if entry.isRevoked {
      bytes.append(contentsOf: Self.revokedAtName)
      times.append(entry.revokedAt, to: &bytes)
      bytes.append(UInt8(ascii: "\""))
    }
    if let reason = names.revokedReasons[entry.revokedReason] {
      bytes.append(contentsOf: Self.revokedReasonName)
      reasons.append(entry.revokedReason, reason, to: &bytes)
    }
    if let imported = entry.origin.imported {
      bytes.append(contentsOf: Self.importedFromName)
      bytes.append(contentsOf: imported.source.rawValue.utf8)
      bytes.append(contentsOf: Self.goodUntilName)
      times.append(imported.goodUntil.milliseconds, to: &bytes)
      bytes.append(UInt8(ascii: "\""))
    }
    if let extra { bytes.append(contentsOf: extra) }
    bytes.append(UInt8(ascii: "}"))
  }

  /// The strings that entries name by number.
  struct Shared {
    let appIDs: Names
    let bundleVersions: Names
    let revokedReasons: Names
  }

  private mutating func append(base64 first: Bytes32, _ second: Bytes32?, to bytes: inout [UInt8]) {
    scratch.removeAll(keepingCapacity: true)
    first.append(to: &scratch)
    second?.append(to: &scratch)
    Base64.append(scratch.span, to: &bytes)
  }

  /// What `P256Point.pem` gives, in one pass: lines of 64 characters, with the line feeds as JSON escapes
  /// them.
  private static func append(pem point: P256Point, scratch: inout [UInt8], to bytes: inout [UInt8]) {
    scratch.removeAll(keepingCapacity: true)
    point.x.append(to: &scratch)
    point.y.append(to: &scratch)
    bytes.append(contentsOf: PublicKeyText.head)
    Base64.append(scratch.span.extracting(..<PublicKeyText.bytesOnFirstLine), to: &bytes)
    bytes.append(contentsOf: PublicKeyText.lineFeed)
    Base64.append(scratch.span.extracting(PublicKeyText.bytesOnFirstLine...), to: &bytes)
    bytes.append(contentsOf: PublicKeyText.tail)
  }

  private static func append(decimal value: UInt32, to bytes: inout [UInt8]) {
    var divisor: UInt32 = 1
    while value / divisor >= 10 { divisor *= 10 }
    while divisor > 0 {
      bytes.append(UInt8(ascii: "0") + UInt8(value / divisor % 10))
      divisor /= 10
    }
  }

  /// No base64 of 32 bytes, and so no key's name.
  static let pseudonymKeyMadeAtName = Array("pseudonymKeyMadeAt".utf8)

  private static let firstLine = Array("\n\"".utf8)
  private static let nextLine = Array(",\n\"".utf8)
  private static let publicKeyName = Array("\":{\"publicKey\":\"".utf8)
  private static let signCountName = Array("\",\"signCount\":".utf8)
  private static let registeredAtName = Array(",\"registeredAt\":\"".utf8)
  private static let lastUsedAtName = Array("\",\"lastUsedAt\":\"".utf8)
  private static let appIDName = Array(",\"appId\":".utf8)
  private static let production = Array(",\"environment\":\"production\"".utf8)
  private static let development = Array(",\"environment\":\"development\"".utf8)
  private static let categoryName = Array(",\"validationCategory\":".utf8)
  private static let bundleVersionName = Array(",\"bundleVersion\":".utf8)
  private static let revokedAtName = Array(",\"revokedAt\":\"".utf8)
  private static let importedFromName = Array(",\"importedFrom\":\"".utf8)
  private static let goodUntilName = Array("\",\"goodUntil\":\"".utf8)
  private static let revokedReasonName = Array(",\"revokedReason\":".utf8)
}

/// The PEM text of a P-256 key (RFC 7468, RFC 5480 §2) as the key file quotes it: constant but for the point.
///
/// The constant part of the DER is 27 bytes, 36 characters; so the first line of 64 has 21 bytes of the
/// point.
enum PublicKeyText {
  static let head = Array(#"-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE"#.utf8)
  static let lineFeed = Array(#"\n"#.utf8)
  static let tail = Array(#"\n-----END PUBLIC KEY-----\n"#.utf8)
  static let bytesOnFirstLine = 21
  static let digitsOnFirstLine = 28
  static let digits = 88
  static let length = head.count + digits + lineFeed.count + tail.count
}

/// Strings quoted once and copied from then on.
private struct QuotedNames {
  private var quoted: [UInt32: [UInt8]] = [:]

  mutating func append(_ number: UInt32, _ string: String, to bytes: inout [UInt8]) {
    if let known = quoted[number] {
      bytes.append(contentsOf: known)
      return
    }
    var text: [UInt8] = []
    JSONWriter.append(quoted: string, to: &text)
    quoted[number] = text
    bytes.append(contentsOf: text)
  }
}
