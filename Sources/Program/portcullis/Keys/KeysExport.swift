/// `portcullis keys export`: the keys as mud-web-proxy 4 keeps them (docs/backup.md, "From another gate").
import ArgumentParser
import Assembly
import Bytes
import Configuration
import JSON
import KeyStore
import Prompt
import System
import Time

struct KeysExport: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Write the keys as another gate reads them.",
    discussion: """
      One JSON object, a key a line: {keyId: {publicKey, signCount, registeredAt, lastUsedAt}}, as the file of \
      mud-web-proxy 4. Revoked keys are left out, as that file has no word for them, and imported ones whose time is over; \
      how many, standard error says. Reads the store's files and does not disturb a running gate.
      """)

  @OptionGroup var settings: SettingsFile

  func run() throws {
    let contents = try StoreAccess.read(try settings.values())
    let now = SystemClock().wall()
    var output = Output()
    var (written, leftOut) = (0, 0)
    try output.line("{")
    var last: String?
    try contents.forEach { identifier, record throws in
      guard record.revokedAt == nil, !record.isOver(at: now) else {
        leftOut += 1
        return
      }
      if let last { try output.line(last + ",") }
      last = Self.member(identifier, record)
      written += 1
    }
    if let last { try output.line(last) }
    try output.line("}")
    try output.flush()
    if leftOut > 0 { complain("\(leftOut) keys are left out, as they are revoked or their time is over") }
  }

  static func member(_ identifier: KeyIdentifier, _ record: KeyRecord) -> String {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("publicKey")
    writer.value(record.publicKey.pem)
    writer.name("signCount")
    writer.value(record.signCount)
    writer.name("registeredAt")
    writer.value(record.registeredAt.timestamp)
    if let time = record.lastUsedAt {
      writer.name("lastUsedAt")
      writer.value(time.timestamp)
    }
    writer.endObject()
    return "\"\(identifier.base64)\":" + String(decoding: writer.bytes, as: UTF8.self)
  }
}
