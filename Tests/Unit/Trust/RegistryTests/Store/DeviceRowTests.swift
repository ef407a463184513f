/// What a change of a device writes: all that has changed, and its keys with their indexes only where they have.
import Bytes
import DeviceWire
import SQL
import SQLite
import Time
import Testing

@testable import Registry

@Suite struct DeviceRowTests {
  private static let time = UnixTime(milliseconds: 1_800_000_001_000)

  /// Each of a kind that a call changes.
  private static let changes: [@Sendable (inout DeviceRecord) -> Void] = [
    { $0.state = .revoked }, { $0.subject = Subject("sam") }, { $0.name = DeviceName("red") },
    { $0.platform = .android }, { $0.level = .hardwareAttested }, { $0.verification = .hardware },
    { $0.activatedAt = time }, { $0.revokedAt = time }, { $0.seenAt = time }, { $0.attestedAt = time },
    { $0.playAttestedAt = time }, { $0.attestationFailedAt = time }, { $0.appVersion = "7.1" },
    { $0.patchLevel = "2027-01" }, { $0.isRooted = true },
    { $0.exception = DeviceRecord.Exception(reason: "no BLE", until: time) }, { $0.replaces = .test(9) },
    { $0.tokenSeries = 77 },
  ]

  /// Whoever writes a key, also the one that is there, is refused.
  private static let guardingKeys = """
    CREATE TEMP TRIGGER keys BEFORE UPDATE OF id, device_key, approval_key, attested_key, created_at ON devices
    BEGIN SELECT RAISE(ABORT, 'a key is written'); END
    """

  private func stored(_ part: ApprovalPart, _ id: DeviceID) throws -> DeviceRecord {
    try #require(try part.store.device(id))
  }

  @Test func whatHasChangedIsWrittenAndKeysAreNot() throws {
    let part = try ApprovalPart()
    let phone = try part.phone(of: "frodo")
    try part.store.run(Self.guardingKeys)
    for change in Self.changes {
      let before = try stored(part, phone.id)
      var changed = before
      change(&changed)
      #expect(changed != before)
      try part.store.update(changed)
      #expect(try stored(part, phone.id) == changed)
    }
    // With what it takes, to be sure that it would be seen.
    var changed = try stored(part, phone.id)
    changed.attestedKey = KeyIdentifier(Bytes32(words: 1, 2, 3, 4))
    #expect(throws: CallFailure.self) { try part.store.update(changed) }
  }

  @Test func keysThatHaveChangedAreWritten() throws {
    let part = try ApprovalPart()
    let phone = try part.phone(of: "frodo")
    let (other, key) = (try Phone.make(), KeyIdentifier(Bytes32(words: 1, 2, 3, 4)))
    var changed = try stored(part, phone.id)
    changed.keys = other.keys
    try part.store.update(changed)
    changed = try stored(part, phone.id)
    #expect(changed.keys == other.keys)
    #expect(try part.store.device(withKey: other.keys.device)?.id == phone.id)
    changed.attestedKey = key
    changed.tokenSeries += 1
    try part.store.update(changed)
    #expect(try part.store.device(attestedBy: key)?.tokenSeries == 1)
    changed = try stored(part, phone.id)
    changed.attestedKey = nil
    try part.store.update(changed)
    #expect(try part.store.device(attestedBy: key) == nil)
  }
}
