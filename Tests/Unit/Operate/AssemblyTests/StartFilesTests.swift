/// What a start reads, and what it says where a file is not as it should be.
import ApprovalPolicy
import Bytes
import Configuration
import Identity
import Kit
import Prompt
import System
import Testing
import Time

@testable import Assembly

@Suite struct StartFilesTests {
  private let folder: TestFolder

  init() throws { folder = try TestFolder("portcullis-start-") }

  // MARK: The key of pseudonyms

  @Test func aPseudonymKeyIsMadeOnceAndReadFromThenOn() throws {
    let file = PseudonymKeyFile(path: folder.file("key"))
    #expect(try file.read() == nil)
    let made = try file.make(KernelEntropy())
    let identifier = KeyIdentifier(Bytes32(words: 7, 7, 7, 7))
    let again = try #require(try file.read())
    #expect(again.pseudonym(ofKey: identifier) == made.pseudonym(ofKey: identifier))
    #expect(try folder.mode("key") == 0o600)
    // Another gate was quicker: its key is taken.
    let taken = try file.make(KernelEntropy())
    #expect(taken.pseudonym(ofKey: identifier) == made.pseudonym(ofKey: identifier))
  }

  @Test func aPseudonymKeyOfAnotherLengthIsRefused() throws {
    try folder.write("key", [UInt8](repeating: 1, count: 31))
    #expect(throws: PseudonymKeyFile.Problem.self) { try PseudonymKeyFile(path: folder.file("key")).read() }
    try folder.write("key", [UInt8](repeating: 1, count: 33))
    let problem = #expect(throws: PseudonymKeyFile.Problem.self) {
      try PseudonymKeyFile(path: folder.file("key")).read()
    }
    #expect(problem?.status == .configuration && problem?.description.contains("32 bytes") == true)
  }

  // MARK: The devices store

  @Test func aStoreThatIsGoneIsMissed() throws {
    let file = DevicesStoreFile(path: folder.file("devices.db"))
    #expect(file.loss == nil)
    try file.noteMade(now: UnixTime(milliseconds: 0))
    #expect(file.loss?.contains("does not exist") == true)
    var told: [String] = []
    #expect(throws: Prompt.ExitStatus.configuration) {
      try DevicesStoreFile.mustNotBeLost(folder.file("devices.db"), tell: { told.append($0) })
    }
    #expect(told.count == 1 && told[0].contains("devices restore BACKUP"))
    try folder.write("devices.db", "")
    #expect(file.loss == nil)
  }

  // MARK: Policies

  @Test func eachProblemOfAPolicyIsToldWithItsFile() throws {
    let path = try folder.write(
      "policy.json", #"{"rules": [{"match": {"operation": "x"}, "quorum": 0, "colour": "red"}]}"#)
    var told: [String] = []
    #expect(throws: Prompt.ExitStatus.configuration) {
      try PolicyFile.read(path, named: "APPROVAL_POLICY=\(path)", tell: { told.append($0) }) {
        (bytes) throws(PolicyFailure) in try ApprovalPolicy(parsing: bytes)
      }
    }
    #expect(told.contains { $0.contains("quorum") } && told.contains { $0.contains("colour") }, "\(told)")
    #expect(told.allSatisfy { $0.hasPrefix("APPROVAL_POLICY=\(path)") })
    told = []
    #expect(throws: Prompt.ExitStatus.configuration) {
      try PolicyFile.read("\(path).none", named: "x", tell: { told.append($0) }) {
        (bytes) throws(PolicyFailure) in try ApprovalPolicy(parsing: bytes)
      }
    }
    #expect(told.count == 1 && told[0].contains("correct the path or the file's owner and mode"))
  }

  // MARK: What a gate needs

  private func configuration(_ variables: [(String, String)]) throws -> GateConfiguration {
    try ConfigurationLoader.load(
      environment: [
        ("APPATTEST_APP_IDS", "ABCDE12345.org.example.game"), ("BACKEND", "echo:"),
        ("ATTESTED_KEYS_PATH", folder.file("keys.json")), ("CONTROL_SOCKET", folder.file("gate.sock")),
      ] + variables, files: SystemFiles(), processors: 1, descriptorLimit: 4096
    ).configuration
  }

  @Test func foldersThatTheGateWritesTo() throws {
    #expect(Set(FileNeeds.folders(try configuration([]).files)) == [folder.path])
    let devices = try configuration([
      ("DEVICES_PATH", folder.file("devices.db")), ("PUBLIC_URL", "https://gate.example"),
    ])
    #expect(FileNeeds.folders(devices.files).count > 1)
    #expect(Set(FileNeeds.folders(devices.files)) == [folder.path])
  }

  @Test func aFileThatSomebodyMayNotReadIsNamedWithItsSetting() throws {
    let path = try folder.write("key.pem", "x")
    let need = FileNeed(setting: "TLS_KEY_PATH", path: path, wishes: [.read])
    #expect(need.hindrance(.ofProcess) == nil)
    let missing = FileNeed(setting: "TLS_KEY_PATH", path: folder.file("none"), wishes: [.read])
    #expect(missing.hindrance(.ofProcess)?.hasPrefix("TLS_KEY_PATH=") == true)
  }

  @Test func aSettingsFileThatIsNotThereEndsWithItsName() {
    var told: [String] = []
    #expect(throws: Prompt.ExitStatus.configuration) {
      _ = try Startup.file(folder.file("none.env"), tell: { told.append($0) })
    }
    #expect(told.count == 1 && told[0].contains("none.env cannot be read"))
  }
}
