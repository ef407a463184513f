/// Keys of another gate as the store takes them, judged where they are taken: by the command, and by the running gate once
/// more (docs/backup.md, "From another gate").
import Bytes
import Crypto
import Identity
package import KeyStore
package import Time

package struct KeysImportOrder {
  package struct Unfit: Error, CustomStringConvertible {
    package let description: String
  }

  package let keys: [ForeignKey]
  package let imported: KeyImport
  package let appID: String?

  init(_ order: ForeignKeys, now: UnixTime) throws(Unfit) {
    guard let source = KeySource(rawValue: order.source) else {
      throw Unfit(description: "from names no gate that keys are taken from")
    }
    imported = try Self.term(source, until: UnixTime(milliseconds: order.goodUntil), now: now)
    if let text = order.appID, AppID(text) == nil { throw Unfit(description: "appId is no App ID") }
    appID = order.appID
    for key in order.keys where SHA256.hash(key.publicKey.x963.span) != key.identifier.digest {
      throw Unfit(description: "key \(key.identifier.base64) is not the SHA-256 of its public key")
    }
    keys = order.keys.map {
      ForeignKey(
        identifier: $0.identifier, publicKey: $0.publicKey, signCount: $0.signCount,
        registeredAt: UnixTime(milliseconds: $0.registeredAt),
        lastUsedAt: $0.lastUsedAt.map { UnixTime(milliseconds: $0) })
    }
  }

  package static func term(_ source: KeySource, until time: UnixTime, now: UnixTime) throws(Unfit)
    -> KeyImport
  {
    let imported = KeyImport(from: source, until: time)
    let longest = now.milliseconds + Int64(KeyImport.longestDays) * 86_400_000
    guard imported.goodUntil > now, time.milliseconds <= longest else {
      throw Unfit(
        description:
          "imported keys are good until a moment of the next \(KeyImport.longestDays) days, at the latest "
          + UnixTime(milliseconds: longest).timestamp)
    }
    return imported
  }
}
