/// The file of the devices store: whether it is missing although there was one (docs/devices-operating.md, "Backup and restore").
import Bytes
import Configuration
import Glibc
import Prompt
import System
import Time

package struct DevicesStoreFile {
  package let path: String

  package init(path: String) { self.path = path }

  /// There once the store was made.
  private var mark: String { path + ".made" }

  /// What to tell where the store is gone; nil where it is there, or was never made.
  package var loss: String? {
    guard !WholeFile.exists(path) else { return nil }
    // The log without its database: it was removed, or never came back.
    guard let evidence = [mark, path + "-wal"].first(where: WholeFile.exists) else { return nil }
    let shown = PrintableText.field(path)
    return
      "DEVICES_PATH=\(shown) does not exist, although \(PrintableText.field(evidence)) shows that there was a "
      + "store: restore it (portcullis devices restore BACKUP); without a backup, begin anew with an empty file, after which all "
      + "phones pair again and every revocation is forgotten: \(EmptyFile.command(path, shown: shown))"
  }

  /// Ends the start, or the command, where it is gone.
  static func mustNotBeLost(_ path: String?, tell: Teller = { complain($0) }) throws {
    guard let loss = path.flatMap({ DevicesStoreFile(path: $0).loss }) else { return }
    tell(loss)
    throw ExitStatus.configuration
  }

  /// When the store is there for certain: from now on it is missed.
  func noteMade(now: UnixTime) throws {
    do throws(SystemError) {
      try WholeFile.write(Array("\(now.timestamp)\n".utf8), to: mark, mode: 0o600, overwriting: false)
    } catch {
      if error.number == EEXIST { return }
      let remedy = DiskSpace.remedy(for: error, at: mark) ?? "correct the folder"
      complain("DEVICES_PATH: \(PrintableText.field(mark)) cannot be written: \(error); \(remedy)")
      throw ExitStatus.ioError
    }
  }
}
