/// A key of the store as text and as JSON, for the commands and for the console.
package import Bytes
package import Configuration
package import Identity
package import JSON
package import KeyStore
import System
import Time

package enum KeyText {
  /// Nil where there is none, or whoever asks may not read it: keys are shown all the same.
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
