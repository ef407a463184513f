/// What the store knows of one attested key (docs/key-store.md, "Snapshot"), and what it is told of a new one.
package import Bytes
package import Identity
package import JSON
package import Time

package struct KeyRecord: Equatable, Sendable {
  package var publicKey: P256Point
  /// The largest counter that an accepted assertion carried.
  package var signCount: UInt32
  package var registeredAt: UnixTime
  package var lastUsedAt: UnixTime?
  /// `<teamId>.<bundleId>`; nil until an assertion has shown which configured app it is. What a key file says that is
  /// no App ID stands here as it is: it names no app, which is not the same as none.
  package var appID: String?
  /// Where the key was attested; nil from files of the older design, which did not say.
  package var environment: AttestEnvironment?
  package var validationCategory: UInt32?
  package var bundleVersion: String?
  package var revokedAt: UnixTime?
  /// Nil for a key whose attestation was verified here.
  package var imported: KeyImport?
  /// What the operator said who revoked it, or what the key file says.
  package var revokedReason: String?

  package init(
    publicKey: P256Point, signCount: UInt32 = 0, registeredAt: UnixTime, lastUsedAt: UnixTime? = nil,
    appID: String? = nil, environment: AttestEnvironment? = nil, validationCategory: UInt32? = nil,
    bundleVersion: String? = nil, revokedAt: UnixTime? = nil, revokedReason: String? = nil,
    imported: KeyImport? = nil
  ) {
    self.publicKey = publicKey
    self.signCount = signCount
    self.registeredAt = registeredAt
    self.lastUsedAt = lastUsedAt
    self.appID = appID
    self.environment = environment
    self.validationCategory = validationCategory
    self.bundleVersion = bundleVersion
    self.revokedAt = revokedAt
    self.revokedReason = revokedReason
    self.imported = imported
  }

  /// Whether nobody is let in by it any more: it was taken from another gate for a while, and that is over.
  package func isOver(at now: UnixTime) -> Bool { imported.map { now >= $0.goodUntil } ?? false }

  /// The environment as the key file and operators read it.
  package var environmentName: String { environment?.rawValue ?? Self.unknownEnvironment }

  static let unknownEnvironment = "unknown"

  /// The members as the key file has them, for an object that the caller opens and closes. A record whose
  /// environment is unknown says so.
  package func writeMembers(to writer: inout JSONWriter) {
    writer.name("publicKey")
    writer.value(publicKey.pem)
    writer.name("signCount")
    writer.value(signCount)
    writer.name("registeredAt")
    writer.value(registeredAt.timestamp)
    if let lastUsedAt {
      writer.name("lastUsedAt")
      writer.value(lastUsedAt.timestamp)
    }
    if let appID {
      writer.name("appId")
      writer.value(appID)
    }
    writer.name("environment")
    writer.value(environmentName)
    if let validationCategory {
      writer.name("validationCategory")
      writer.value(validationCategory)
    }
    if let bundleVersion {
      writer.name("bundleVersion")
      writer.value(bundleVersion)
    }
    if let revokedAt {
      writer.name("revokedAt")
      writer.value(revokedAt.timestamp)
    }
    if let revokedReason {
      writer.name("revokedReason")
      writer.value(revokedReason)
    }
    if let imported {
      writer.name("importedFrom")
      writer.value(imported.source.rawValue)
      writer.name("goodUntil")
      writer.value(imported.goodUntil.timestamp)
    }
  }
}

/// A key whose attestation has just been accepted.
package struct NewKey: Sendable {
  package let identifier: KeyIdentifier
  package let publicKey: P256Point
  package let appID: String
  package let environment: AttestEnvironment
  package let validationCategory: UInt32?
  package let bundleVersion: String?
  package let registeredAt: UnixTime

  package init(
    identifier: KeyIdentifier, publicKey: P256Point, appID: String, environment: AttestEnvironment,
    validationCategory: UInt32? = nil, bundleVersion: String? = nil, registeredAt: UnixTime
  ) {
    self.identifier = identifier
    self.publicKey = publicKey
    self.appID = appID
    self.environment = environment
    self.validationCategory = validationCategory
    self.bundleVersion = bundleVersion
    self.registeredAt = registeredAt
  }
}
