import AndroidKey
import Bytes
import DeviceWire
import Glibc
import Kit
import Registry
import System
import Testing
import Time

@testable import Gateway
@testable import Requests

/// The file of revoked certificates as it comes, changes, breaks and grows old; what becomes of devices then is in
/// RegistryTests (`AndroidTests.swift`).
@Suite struct RevocationFileTests {
  private static let good = #"{"entries":{"0A1":{"status":"REVOKED"}}}"#

  private let harness: LoopHarness
  private let devices: Devices
  private let path: String
  private let folder: TestFolder

  init() throws {
    harness = try LoopHarness(doorLevel: .hardwareAttested)
    devices = try #require(harness.devices)
    folder = try TestFolder("portcullis-revoked-")
    path = folder.path + "/revoked.json"
    var settings = AndroidEvidence.Settings()
    settings.revocationPath = path
    settings.revocationMaximumAge = .seconds(60)
    devices.android.reload(settings)
  }

  private func write(_ text: String) throws {
    try WholeFile.write(Array(text.utf8), to: path, mode: 0o600, overwriting: true)
  }

  /// As the housekeeper does, some times: so many seconds behind the file's time.
  private func attend(after seconds: Int64 = 0) {
    let modifiedAt = (try? FileStamp.of(path))?.modifiedAt ?? UnixTime(milliseconds: 1_800_000_000_000)
    let now = UnixTime(milliseconds: modifiedAt.milliseconds + seconds * 1000)
    for _ in 0..<3 { devices.attendRevocations(now: now) }
  }

  private func count(_ event: String) -> Int { harness.events.count { $0 == event } }
  private var reading: RevocationReading? { devices.android.revocations.reading }

  /// What would make its reader wait is none, and holds up nobody.
  @Test func whatIsNoFile() throws {
    #expect(unsafe mkfifo(path, 0o600) == 0)
    attend()
    #expect(reading?.list == nil && count("revocations_read") == 0)
    #expect(throws: SystemError.self) { try RevocationReading.of(path) }
  }

  @Test func itIsReadOnceForEachChange() throws {
    try write(Self.good)
    attend()
    #expect(reading?.list?.count == 1 && count("revocations_read") == 1)
    try write(#"{"entries":{"0A1":{"status":"REVOKED"},"2":{"status":"SUSPENDED"}}}"#)
    attend()
    #expect(reading?.list?.count == 2 && count("revocations_read") == 2)
    // The same bytes at another time are as fresh as that.
    try write(#"{"entries":{"0A1":{"status":"REVOKED"},"2":{"status":"SUSPENDED"}}}"#)
    attend(after: 7)
    let stamp = try #require(reading).stamp
    #expect(reading?.age(at: UnixTime(milliseconds: stamp.modifiedAt.milliseconds + 7000)) == 7)
  }

  @Test(arguments: ["", "[]", #"{"entries":{"#, #"{"entries":{"xyz":{"status":"REVOKED"}}}"#])
  func whatIsNoListEndsAttestations(text: String) throws {
    try write(Self.good)
    attend()
    try write(text)
    attend()
    #expect(reading != nil && reading?.list == nil && count("revocations_unusable") == 1)
    try write(Self.good)
    attend()
    #expect(reading?.list?.count == 1)
  }

  @Test func aFileThatIsGone() throws {
    attend()
    #expect(reading == nil && count("revocations_unusable") == 1)
    try write(Self.good)
    attend()
    #expect(reading?.list != nil)
    var settings = AndroidEvidence.Settings()
    settings.revocationPath = path + ".none"
    devices.android.reload(settings)
    attend()
    #expect(reading == nil && count("revocations_unusable") == 2)
    // None is named any more.
    devices.android.reload(AndroidEvidence.Settings())
    attend()
    #expect(reading == nil && count("revocations_unusable") == 2)
  }

  @Test func itsAgeIsToldOnce() throws {
    try write(Self.good)
    attend(after: 60)
    #expect(count("revocations_stale") == 0)
    attend(after: 61)
    #expect(count("revocations_stale") == 1)
    attend()
    attend(after: 61)
    #expect(count("revocations_stale") == 2)
  }

  /// As attestations go by it: a clock that is some minutes ahead wrote it, and not one that is ten.
  @Test func aFileOfATimeToCome() throws {
    try write(Self.good)
    attend(after: -300)
    #expect(count("revocations_stale") == 0)
    attend(after: -600)
    #expect(count("revocations_stale") == 1)
  }

  /// By its size, and not by reading all of it each second.
  @Test func aFileThatIsTooLarge() throws {
    try write("")
    #expect(unsafe truncate(path, off_t(RevocationList.maximumBytes) + 1) == 0)
    for _ in 0..<2 { attend() }
    // What was looked at once is known by its stamp.
    #expect(reading != nil && reading?.list == nil && count("revocations_unusable") == 1)
    try write(Self.good)
    attend()
    #expect(reading?.list?.count == 1)
  }

  @Test(
    arguments: [("1", [1]), ("a1", [0xA1]), ("0a1", [0xA1]), ("fff", [0x0F, 0xFF]), ("0", [0])]
      as [(String, [UInt8])])
  func serialsAreKeptAsBytes(hex: String, bytes: [UInt8]) throws {
    let serial = try #require(CertificateSerial(hex: hex))
    #expect(serial.stored?.bytes == bytes)
    let back = CertificateSerial(magnitude: bytes.span)
    #expect(back == serial)
  }
}
