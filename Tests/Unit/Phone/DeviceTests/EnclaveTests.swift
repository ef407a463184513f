import Bytes
import Crypto
import Device
import Dialing
import Foundation
import Identity
import JSON
import Kit
import System
import Testing

@Suite struct EnclaveTests {
  private let folder: TestFolder
  private let state: String
  private let hash = Bytes32()

  init() throws {
    folder = try TestFolder("device-")
    state = folder.file("device.json")
  }

  private func make(_ launch: LaunchClaim? = nil) throws -> SoftwareEnclave {
    try SoftwareEnclave.generate(
      appID: "ABCDE12345.org.example.game", environment: .development, launch: launch, keptIn: state)
  }

  @Test func aKeySurvivesInItsFile() throws {
    let launch = LaunchClaim(validationCategory: 4, bundleVersion: "1.0 \"beta\"")
    let made = try make(launch)
    _ = try made.assert(clientDataHash: hash)
    let loaded = try SoftwareEnclave.load(from: state)
    #expect(loaded.keyIdentifier == made.keyIdentifier)
    #expect(loaded.point == made.point)
    #expect(loaded.appID == made.appID)
    #expect(loaded.environment == .development)
    #expect(loaded.launch == launch)
    #expect(loaded.signCount == 1)
    #expect(try folder.mode("device.json") == 0o600)
  }

  @Test func theCounterIsOnDiskBeforeTheAssertionIsToBeHad() throws {
    let first = try make()
    let second = try SoftwareEnclave.load(from: state)
    // Two processes with one state file: no number is used twice.
    for expected in stride(from: UInt32(1), through: 6, by: 2) {
      #expect(try counter(first.assert(clientDataHash: hash)) == expected)
      #expect(try storedCounter() == Int64(expected))
      #expect(try counter(second.assert(clientDataHash: hash)) == expected + 1)
    }
    #expect(try folder.mode("device.json") == 0o600)
  }

  @Test func aChosenCounterIsNotRemembered() throws {
    let enclave = try make()
    #expect(try counter(enclave.assertion(clientDataHash: hash, signCount: 77)) == 77)
    #expect(enclave.signCount == 0)
    #expect(try storedCounter() == 0)
  }

  @Test func theLastCounterIsTheLast() throws {
    _ = try make()
    try edit { $0.replacingOccurrences(of: "\"signCount\":0", with: "\"signCount\":4294967294") }
    let enclave = try SoftwareEnclave.load(from: state)
    #expect(try counter(enclave.assert(clientDataHash: hash)) == .max)
    #expect(throws: DeviceError.counterExhausted) { try enclave.assert(clientDataHash: hash) }
    #expect(try storedCounter() == Int64(UInt32.max))
  }

  @Test func nothingIsWrittenOver() throws {
    let made = try make()
    #expect(throws: DeviceError.exists(paths: [state])) { try make() }
    #expect(try SoftwareEnclave.load(from: state).keyIdentifier == made.keyIdentifier)
  }

  @Test(arguments: [
    ("\"signCount\":0", "\"signCount\":-1"), ("\"signCount\":0", "\"signCount\":4294967296"),
    ("\"signCount\":0", "\"count\":0"), ("development", "sandbox"), ("\"keyId\":\"", "\"keyId\":\"A"),
    ("BEGIN PRIVATE", "BEGIN PUBLIC"), ("{", "["),
  ])
  func aDamagedFileIsNamed(what: String, by: String) throws {
    _ = try make()
    try edit { $0.replacingOccurrences(of: what, with: by) }
    let error = #expect(throws: DeviceError.self) { try SoftwareEnclave.load(from: state) }
    #expect(error?.description.hasPrefix(state) == true)
  }

  @Test func anotherKeysNameIsNoticed() throws {
    let made = try make()
    let other = try SoftwareEnclave.generate(appID: "A.b", environment: .production)
    try edit {
      $0.replacingOccurrences(of: made.keyIdentifier.base64, with: other.keyIdentifier.base64)
    }
    #expect(throws: DeviceError.self) { try SoftwareEnclave.load(from: state) }
  }

  @Test func theKeyIdentifierIsTheDigestOfThePoint() throws {
    let enclave = try make()
    let path = try folder.write("point", enclave.point.x963)
    let openssl = try #require(Tool.openssl)
    let printed = try Tool.run(openssl, ["dgst", "-sha256", "-r", path]).output
    #expect(printed.hasPrefix(enclave.keyIdentifier.digest.hex))
  }

  // MARK: Reading back

  private func edit(_ change: (String) -> String) throws {
    try folder.write("device.json", change(String(contentsOfFile: state, encoding: .utf8)))
  }

  private func storedCounter() throws -> Int64? {
    let bytes = try WholeFile.read(state)
    return try JSONValue(parsing: bytes.span, depthLimit: 2).object?["signCount"]?.integer
  }

  /// The four bytes behind rpIdHash and flags of the authenticator data, which ends the assertion.
  private func counter(_ assertion: [UInt8]) throws -> UInt32 {
    let data = Array(assertion.suffix(37))
    #expect(data[32] == 0x40)
    return data[33...].reduce(0) { $0 << 8 | UInt32($1) }
  }
}
