/// A key of the store as text and as JSON, for the commands and for the console.
package import Bytes
package import Configuration
package import Identity
package import JSON
package import KeyStore
package import Prompt
internal import System
package import Time

package enum KeyText {
  /// Nil where there is none, or the asking user may not read it: keys are shown all the same.
  package static func pseudonymKey(_ configuration: GateConfiguration) -> PseudonymKey? {
    (try? PseudonymKeyFile(path: configuration.store.pseudonymKeyPath).read()) ?? nil
  }

  package static func line(_ identifier: KeyIdentifier, _ record: KeyRecord) -> String {
    var fields = [
      identifier.base64, record.registeredAt.timestamp, record.lastUsedAt?.timestamp ?? "-",
      "\(record.signCount)",
      record.environmentName, record.appID.map { PrintableText.field($0, limit: 200) } ?? "-",
    ]
    if let time = record.revokedAt {
      fields.append("revoked \(time.timestamp)")
      if let reason = record.revokedReason {
        fields.append(PrintableText.field(reason, limit: 4 * RevocationReason.longest))
      }
    }
    if let imported = record.imported {
      fields.append("imported from \(imported.source.rawValue) until \(imported.goodUntil.timestamp)")
    }
    return fields.joined(separator: "  ")
  }

  /// At a terminal: short, as the first characters find a key again.
  package static var table: TextTable {
    TextTable([
      .init("KEY"), .init("REGISTERED"), .init("LAST USED"), .init("COUNTER", isNumber: true),
      .init("ENVIRONMENT"), .init("APP ID", canBeCut: true), .init("STATE", canBeCut: true),
    ])
  }

  package static func cells(
    _ identifier: KeyIdentifier, _ record: KeyRecord, now: UnixTime
  ) -> [TextTable.Cell] {
    var state: TextTable.Cell = ""
    if let time = record.revokedAt {
      let reason = record.revokedReason.map {
        ": " + PrintableText.field($0, limit: 4 * RevocationReason.longest)
      }
      state = .init("revoked \(Wording.relative(time, to: now))\(reason ?? "")", .bad)
    } else if let imported = record.imported {
      let end = Wording.relative(imported.goodUntil, to: now)
      state = .init("imported from \(imported.source.rawValue), ends \(end)", .doubtful)
    }
    return [
      .init(Wording.beginning(ofKey: identifier.base64)),
      .init(Wording.relative(record.registeredAt, to: now)),
      .init(record.lastUsedAt.map { Wording.relative($0, to: now) } ?? "never"),
      .init(Wording.count(record.signCount)), .init(record.environmentName),
      .init(record.appID.map { PrintableText.field($0, limit: 200) } ?? "-"), state,
    ]
  }

  package static func rows(
    _ identifier: KeyIdentifier, _ record: KeyRecord, _ pseudonym: DevicePseudonym?
  ) -> [(String, String)] {
    var rows = [
      ("keyId", identifier.base64), ("publicKey", Base64.encode(record.publicKey.x963.span)),
      ("signCount", "\(record.signCount)"), ("registeredAt", record.registeredAt.timestamp),
      ("lastUsedAt", record.lastUsedAt?.timestamp ?? "never"),
      ("appId", record.appID.map { PrintableText.field($0, limit: 200) } ?? "unknown"),
      ("environment", record.environmentName),
    ]
    if let category = record.validationCategory { rows.append(("validationCategory", "\(category)")) }
    if let version = record.bundleVersion {
      rows.append(("bundleVersion", PrintableText.field(version, limit: 256)))
    }
    if let time = record.revokedAt { rows.append(("revokedAt", time.timestamp)) }
    if let reason = record.revokedReason {
      rows.append(("revokedReason", PrintableText.field(reason, limit: 4 * RevocationReason.longest)))
    }
    if let imported = record.imported {
      rows.append(("importedFrom", imported.source.rawValue))
      rows.append(("goodUntil", imported.goodUntil.timestamp))
    }
    if let pseudonym { rows.append(("pseudonym", pseudonym.description)) }
    return rows
  }

  package static func json(
    _ identifier: KeyIdentifier, _ record: KeyRecord, _ pseudonym: DevicePseudonym?
  ) -> JSONWriter {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("keyId")
    writer.value(identifier.base64)
    record.writeMembers(to: &writer)
    if let pseudonym {
      writer.name("pseudonym")
      writer.value(pseudonym.description)
    }
    writer.endObject()
    return writer
  }
}
