/// `portcullis devices backup`: a copy of the store beside it by the gate, which may write nowhere else, and from there to
/// where it is wanted (docs/devices-operating.md, "Backup and restore").
import ArgumentParser
import Bytes
import Configuration
import Glibc
import JSON
import Prompt
import Registry
import System

struct DevicesBackup: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup", abstract: "Copy the store of devices while the gate runs.",
    discussion: """
      The copy is whole (mode 0600) and holds no secret of the gate's: no key that signs tokens, and none that codes are \
      kept under. It has names of people, so keep it safe all the same. Ends with status 74 when it cannot be written; a \
      file that is there already stays.
      """)

  @OptionGroup var settings: SettingsFile
  @Argument(
    help: "The path of a new file. A name without a folder is that of a file beside the store.",
    completion: .file())
  var path: String
  @Flag(help: "One JSON object.") var json = false

  func run() throws {
    let configuration = try settings.values()
    guard path.contains("/"), let store = configuration.devices.path else {
      let result = try order(path, configuration)
      return try RegistryText.say("backed up to \(PrintableText.field(path))", result, json: json)
    }
    let copy = try BackupCopy(to: path, besides: store)
    let result = try order(BackupCopy.name, configuration)
    try copy.finish()
    try RegistryText.say("backed up to \(PrintableText.field(path))", result, json: json)
  }

  private func order(_ name: String, _ configuration: GateConfiguration) throws -> JSONValue {
    try RegistryAccess.order(.devicesBackup, [("name", .string(name))], configuration)
  }
}

/// Carries what the gate has written beside its store to another place, and leaves nothing of it there.
private final class BackupCopy {
  /// Of the gate's file, for as long as it takes to open it.
  static let name = "devices-backup.handover"

  private let path: String
  private let unfinished: String
  private let source: String
  private let target: OwnedDescriptor

  /// Looks whether the file can be made before the gate makes one.
  init(to path: String, besides store: String) throws {
    self.path = path
    let fresh = "\(path).\(getpid()).new"
    let handed = (store.lastIndex(of: "/").map { String(store[...$0]) } ?? "") + Self.name
    (unfinished, source) = (fresh, handed)
    guard !WholeFile.exists(path) else {
      complain("\(PrintableText.field(path)) is there already: name another file, or remove this one first")
      throw ExitStatus.usage
    }
    do {
      // Of a command that was killed.
      try WholeFile.remove(handed)
      try? FileNames.remove(fresh)
      target = try OwnedDescriptor.open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
    } catch {
      complain(
        "\(PrintableText.field(path)) cannot be made: \(error); name a file in a folder that you may write to"
      )
      throw ExitStatus.ioError
    }
  }

  deinit { try? FileNames.remove(unfinished) }

  func finish() throws {
    do {
      let copy = try OwnedDescriptor.open(source, O_RDONLY | O_NOFOLLOW, 0)
      try FileNames.remove(source)
      var chunk = [UInt8](repeating: 0, count: 1 << 20)
      while true {
        let count = try copy.read(into: &chunk)
        if count == 0 { break }
        try target.writeAll(count == chunk.count ? chunk : Array(chunk.prefix(count)))
      }
      if fsync(target.number) != 0 { throw SystemError("fsync \(unfinished)") }
      try FileNames.link(unfinished, as: path)
      let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
      try FileNames.synchronize(folder: folder)
    } catch {
      try? FileNames.remove(source)
      complain(
        "\(PrintableText.field(path)) cannot be written: \(error); make room, or name a file elsewhere")
      throw ExitStatus.ioError
    }
  }
}
