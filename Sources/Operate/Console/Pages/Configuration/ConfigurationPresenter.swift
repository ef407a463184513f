/// What the page of the configuration shows, and what `check` says of it as the gate's own user sees it.
import Addresses
import Admin
import Assembly
import Configuration
import Confinement
import Glibc
import Inspection
import Prompt
import Synchronization
import System
import Time

extension ConsolePages {
  func configuration(_ problems: [FieldProblem] = []) -> ConfigurationPage {
    let settings = sources.settings
    let (found, last) = (findings.current(at: now), settings.last)
    return ConfigurationPage(
      settings: settings.settings.map { ConfigurationPage.Setting($0) }, file: settings.shownFile,
      findings: found.findings, checkedAt: found.at, readAt: settings.readAt,
      lastReload: last.map { ConfigurationPage.Reload($0.outcome) }, lastReloadAt: last?.at,
      problems: problems)
  }
}

/// The findings of `portcullis check`, as far as a gate that runs can look: neither the store, which it has itself, nor the
/// disk, on which a page is to write nothing; the numbers of both are on the overview. Used by the slow thread alone.
final class ConfigurationFindings: Sendable {
  struct Findings: Sendable {
    let at: UnixTime
    let findings: [ConfigurationPage.Finding]
  }

  /// The game is called for it, and files are read: not with each look.
  private static let life: Int64 = 30_000

  private let settings: SettingsInForce
  /// Read before the sandbox was raised, in which the kernel is asked nothing.
  private let kernel: KernelFeatures
  private let last = Mutex<Findings?>(nil)

  init(_ settings: SettingsInForce, _ kernel: KernelFeatures) {
    self.settings = settings
    self.kernel = kernel
  }

  func current(at now: UnixTime) -> Findings {
    if let last = last.withLock({ $0 }), abs(now.milliseconds - last.at.milliseconds) < Self.life {
      return last
    }
    let found = Findings(at: now, findings: look())
    last.withLock { $0 = found }
    return found
  }

  /// After a reload nothing of before holds.
  func forget() { last.withLock { $0 = nil } }

  private func look() -> [ConfigurationPage.Finding] {
    var report = CheckReport()
    SettingsChecks.clock(&report)
    let configuration = read(&report) ?? settings.configuration
    SettingsChecks.charsets(configuration, &report)
    CertificateChecks(now: SystemClock().wall(), isWhole: true).check(configuration.files, &report)
    DeviceChecks(files: configuration.files).check(&report)
    HostChecks.checkKernel(kernel, &report)
    AccessChecks(
      files: configuration.files, file: settings.file, running: Int(getpid()), named: nil, wanted: nil
    ).check(&report)
    ReachChecks(configuration: configuration, isRunning: true).check(&report)
    AdminChecks(files: configuration.files, isRunning: true).check(&report)
    return report.findings.map { finding in
      let standing: Standing =
        switch finding.grade {
        case .ok: .good
        case .warning: .doubtful
        case .problem: .bad
        }
      return ConfigurationPage.Finding(standing: standing, subject: finding.name, text: finding.detail)
    }
  }

  /// As file and environment say now; nil where that is wrong.
  private func read(_ report: inout CheckReport) -> GateConfiguration? {
    var problems: [String] = []
    let file: ConfigurationLoader.File?
    do {
      file = try Startup.file(settings.file, tell: { problems.append($0) })
    } catch {
      for problem in problems { report.problem("configuration", problem, .configuration) }
      return nil
    }
    return try? SettingsChecks.load(file, &report).get()
  }
}

extension ConfigurationPage.Setting {
  fileprivate init(_ setting: EffectiveSetting) {
    var line: Int?
    let origin: Origin
    switch setting.source {
    case .standard: origin = .standard
    case .environment: origin = .environment
    case .file(let number): (origin, line) = (.file, number)
    }
    self.init(
      name: setting.name, value: setting.value, isHidden: setting.isHidden, origin: origin, line: line,
      isReloadable: setting.isReloadable, note: setting.note)
  }
}

extension ConfigurationPage.Reload {
  fileprivate init(_ outcome: SettingsInForce.Outcome) {
    switch outcome {
    case .taken(let changed, let waiting):
      self = waiting.isEmpty ? .taken(changed: changed) : .needsRestart(changed: changed, waiting: waiting)
    case .late: self = .late
    case .refused(let problems): self = .refused(problems: problems)
    }
  }
}
