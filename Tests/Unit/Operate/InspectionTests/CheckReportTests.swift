/// What `check` ends with, and each thing that it looks at: on files of a folder, at a time that the test says.
import AppAttest
import ApprovalPolicy
import Assembly
import Bytes
import Configuration
import Confinement
import Crypto
import Identity
import Kit
import Prompt
import System
import Testing
import Time

@testable import Inspection

@Suite struct CheckReportTests {
  @Test(arguments: [
    ([], nil), ([Prompt.ExitStatus.unavailable], Prompt.ExitStatus.unavailable),
    ([.configuration, .unavailable, .ioError], .configuration), ([.unavailable, .ioError], .ioError),
    ([.ioError, .unavailable], .ioError),
  ])
  func theGravestProblemIsTheStatus(problems: [Prompt.ExitStatus], status: Prompt.ExitStatus?) {
    var report = CheckReport()
    report.ok("clock", "now")
    report.warning("disk", "slow")
    for problem in problems { report.problem("something", "is wrong", problem) }
    #expect(report.status == status)
    #expect(report.findings.map(\.grade.rawValue) == ["ok", "warning"] + problems.map { _ in "problem" })
  }

  /// At a terminal, where the first lines of many leave the window.
  @Test func whatMattersComesLast() {
    var report = CheckReport()
    report.warning("disk", "slow")
    report.ok("clock", "now")
    #expect(
      report.lines(.none) == [
        "RESULT   CHECK  FOUND", "ok       clock  now", "warning  disk   slow", "",
        "ready: no problem, 1 warning",
      ])
    report.problem("backend", "away", .unavailable)
    report.ok("root", "there")
    let lines = report.lines(.none)
    #expect(
      lines.suffix(3) == [
        "problem  backend  away", "", "not ready: 1 problem, 1 warning; fix the problems, then check again",
      ])
    #expect(CheckReport().lines(.none).last == "ready: no problem, no warning")
  }
}

@Suite struct CertificateCheckTests {
  private let folder: TestFolder
  private let made = UnixTime(milliseconds: 1_771_286_400_000)

  init() throws { folder = try TestFolder("portcullis-inspection-") }

  private func files(_ variables: [(String, String)] = []) throws -> GateFiles {
    let certificate = try SelfSignedCertificate.localhost(now: made)
    let key = Array(try certificate.key.pem().utf8)
    return try ConfigurationLoader.load(
      environment: [
        ("APPATTEST_APP_IDS", "ABCDE12345.org.example.game"), ("BACKEND", "echo:"),
        ("ATTESTED_KEYS_PATH", folder.file("keys.json")), ("CONTROL_SOCKET", folder.file("gate.sock")),
        ("TLS_CERT_PATH", try folder.write("cert.pem", certificate.certificate.pem)),
        ("TLS_KEY_PATH", try folder.write("key.pem", key)),
      ] + variables, files: SystemFiles(), processors: 1, descriptorLimit: 4096
    ).configuration.files
  }

  private func lines(_ name: String, at now: UnixTime, _ files: GateFiles) -> [String] {
    var report = CheckReport()
    CertificateChecks(now: now, isWhole: true).check(files, &report)
    return report.findings.filter { $0.name == name }.map { "\($0.grade.rawValue) \($0.detail)" }
  }

  /// Good from a day before it was made, for thirty days.
  @Test(arguments: [
    (-2 as Int64, "warning", "is not valid before"), (0, "ok", "is valid until"),
    (29, "warning", "expires in 1 days"),
    (31, "warning", "expired at"),
  ])
  func datesAreLookedAt(days: Int64, grade: String, words: String) throws {
    let found = lines("certificate", at: made.adding(days: days), try files())
    #expect(found.count == 1 && found[0].hasPrefix(grade) && found[0].contains(words), "\(found)")
    // A gate starts with it: a refusal would end the play of all.
    if grade == "warning" { #expect(found[0].contains("TLS_CERT_PATH=")) }
  }

  @Test func theRootIsNamed() throws {
    let own = try files()
    #expect(lines("attestation_root", at: made, own) == ["ok Apple's, as compiled in"])
    let other = try files([("APPATTEST_ROOT_CA_PATH", try folder.write("none.pem", "no certificate"))])
    let told = lines("attestation_root", at: made, other)
    #expect(told.count == 1 && told[0].hasPrefix("problem APPATTEST_ROOT_CA_PATH="), "\(told)")
  }

  @Test func phonesHearOfTheNextKeyInTime() throws {
    let files = try files([
      ("DEVICES_PATH", folder.file("devices.db")), ("PUBLIC_URL", "https://gate.example"),
    ])
    #expect(lines("pins", at: made.adding(days: 20), files).count == 1)
  }
}

@Suite struct FileExposureTests {
  private let folder: TestFolder

  init() throws { folder = try TestFolder("portcullis-exposure-") }

  private func line(mode: UInt32) throws -> String {
    let path = try folder.write("key", "x")
    #expect(chmodFile(path, mode))
    var report = CheckReport()
    FileExposure(gate: .ofProcess).check(path, as: "key", &report)
    let finding = try #require(report.findings.first)
    return "\(finding.grade.rawValue) \(finding.detail)"
  }

  @Test(arguments: [0o600, 0o400] as [UInt32]) func whatIsTheOwnersAlone(mode: UInt32) throws {
    #expect(try line(mode: mode).hasPrefix("ok "))
  }

  @Test(arguments: [0o604, 0o644, 0o666, 0o602] as [UInt32]) func whatOthersMayOpen(mode: UInt32) throws {
    let line = try line(mode: mode)
    #expect(line.hasPrefix("warning ") && line.contains("chmod 600 \(folder.path)/key"), "\(line)")
  }

  @Test func aFileThatIsNotThereHasNoMode() {
    var report = CheckReport()
    FileExposure(gate: .ofProcess).check(folder.file("none"), as: "key", &report)
    #expect(report.findings.isEmpty)
  }
}

@Suite struct HostAndPolicyTests {
  @Test(arguments: [
    (KernelFeatures(release: "6.12.1", landlock: 6, filtersCalls: true), "ok"),
    (KernelFeatures(release: "5.10.0", landlock: nil, filtersCalls: false), "warning"),
  ])
  func aKernelThatLacksSomethingIsNamed(features: KernelFeatures, grade: String) {
    var report = CheckReport()
    HostChecks.checkKernel(features, &report)
    #expect(Set(report.findings.map(\.grade.rawValue)) == [grade] && report.status == nil)
    #expect(report.findings.count == max(1, features.losses.count))
    #expect(report.findings.allSatisfy { $0.detail.contains(features.release) })
  }

  @Test func aRuleForBarePhonesIsWarnedOf() throws {
    func policy(_ level: String) throws -> ApprovalPolicy {
      let text = Array(
        #"{"rules": [{"match": {"operation": "x"}, "level": "\#(level)", "factors": ["device"]}]}"#.utf8)
      return try ApprovalPolicy(parsing: text.span)
    }
    #expect(PolicyText.warning(try policy("bare"))?.contains(#""level": "bare""#) == true)
    #expect(PolicyText.warning(try policy("app_attested")) == nil)
  }

  @Test func aKeyOfPseudonymsThatWasNeverMade() throws {
    let folder = try TestFolder("portcullis-pseudonym-")
    var report = CheckReport()
    PseudonymKeyCheck(
      file: PseudonymKeyFile(path: folder.file("key")), store: nil, exposure: FileExposure(gate: .ofProcess)
    ).check(&report)
    #expect(report.findings.isEmpty)
    try folder.write("key", "too short")
    PseudonymKeyCheck(
      file: PseudonymKeyFile(path: folder.file("key")), store: nil, exposure: FileExposure(gate: .ofProcess)
    ).check(&report)
    #expect(report.status == .configuration && report.findings[0].detail.contains("restore it from a backup"))
  }
}
