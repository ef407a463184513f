/// `portcullis devices restore`: a backup in the place of the store, while no gate runs (docs/devices-operating.md,
/// "Backup and restore").
import ArgumentParser
import Assembly
import Bytes
import Configuration
import Confinement
import JSON
import Prompt
import Registry
import System
import Time

struct DevicesRestore: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore", abstract: "Put a backup in the place of the store, while no gate runs.",
    discussion: """
      The backup is looked over first and stays where it is; the store that was there is kept beside it. The next \
      start ends all that was open in the backup. What was done after it was made is not in it: devices that were \
      revoked since then have to be revoked again. Ends with status 75 while a gate runs, and with 65 when the file \
      is no backup.
      """)

  @OptionGroup var settings: SettingsFile
  @Argument(help: "The backup.", completion: .file()) var file: String
  @Flag(help: "One JSON object.") var json = false

  func run() throws {
    let configuration = try settings.values()
    guard let path = configuration.devices.path else {
      complain("DEVICES_PATH is not set: name the store that the backup is to take the place of")
      throw ExitStatus.configuration
    }
    let report = try StoreAccess.locked(configuration) { _ in
      do throws(StoreRestoration.Failure) {
        return try StoreRestoration.restore(file, to: path, at: SystemClock().wall())
      } catch {
        complain("\(error)")
        if case .noCopy = error, !EffectiveAccess.isGranted(file, [.read]) {
          let user = Account.of(user: Account.effectiveUser)
          complain("it is read as \(user), as whom the gate serves: give him a copy that he may read")
        }
        switch error {
        case .inUse: throw ExitStatus.temporaryFailure
        case .noCopy: throw ExitStatus.dataError
        case .failed: throw ExitStatus.ioError
        }
      }
    }
    try tell(report)
  }

  private func tell(_ report: StoreRestoration.Report) throws {
    var output = Output()
    if json {
      var members: [(name: String, value: JSONValue)] = [
        ("active_devices", .number(JSONNumber(Int64(report.activeDevices))))
      ]
      if let time = report.copiedAt { members.append(("copied_at", .number(JSONNumber(time.seconds)))) }
      if let replaced = report.replaced { members.append(("replaced", .string(replaced))) }
      var writer = JSONWriter()
      writer.value(.object(JSONObject(members)))
      try output.line(json: writer)
    } else {
      let since = report.copiedAt?.timestamp ?? "its making"
      try output.line("restored: \(report.activeDevices) active devices, as of \(since)")
      if let replaced = report.replaced {
        try output.line("the store that was there is \(PrintableText.field(replaced))")
      }
      try output.line(
        "not in it is what was done since then: revoke again what was revoked, and expect phones that enrolled or "
          + "rotated keys to be unknown; approvals, leases and pairings that were open end with the next start"
      )
    }
    try output.flush()
  }
}
