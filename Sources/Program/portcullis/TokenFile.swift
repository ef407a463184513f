/// `--token-file`: a token that is told once goes into a file that its owner alone may read, and only when it is there
/// (docs/approvals.md, "Services").
import ArgumentParser
import Bytes
import Glibc
import Prompt
import System

final class TokenFile {
  /// More than any token is long.
  private static let room = 512

  private let path: String
  private let temporary: String
  private let isReplaced: Bool
  private let file: OwnedDescriptor

  /// Takes the room before anything is asked of the gate: a token that then could not be written would be lost.
  /// - Parameter replacing: the token that a file of this name holds ends anyway.
  init(_ path: String, replacing: Bool) throws {
    self.path = path
    isReplaced = replacing
    let (shown, fresh) = (PrintableText.field(path), "\(path).\(getpid()).new")
    temporary = fresh
    if !replacing, WholeFile.exists(path) {
      complain(
        "--token-file \(shown) is there already, and may hold a token in use: name another file, or remove this "
          + "one")
      throw ExitStatus.cannotCreate
    }
    do {
      try? FileNames.remove(fresh)
      file = try OwnedDescriptor.open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
    } catch {
      complain(
        "--token-file \(shown) cannot be written: \(error); name a file in a folder that you may write to")
      throw ExitStatus.cannotCreate
    }
    do {
      try file.writeAll([UInt8](repeating: 0x0A, count: Self.room))
      try Self.giveToOwner(of: path, file)
    } catch {
      try? FileNames.remove(fresh)
      complain("--token-file \(shown) cannot be written: \(error); make room, or name a file elsewhere")
      throw ExitStatus.ioError
    }
  }

  /// Where it has its own name by now, there is nothing of this one.
  deinit { try? FileNames.remove(temporary) }

  /// - Returns: after the file is on the disk under its name. Where that fails, the token goes to standard output all the same.
  private func keep(_ token: String) throws {
    do {
      let line = Array((token + "\n").utf8)
      guard lseek(file.number, 0, SEEK_SET) == 0 else { throw SystemError("lseek \(temporary)") }
      try file.writeAll(line)
      guard ftruncate(file.number, line.count) == 0 else { throw SystemError("ftruncate \(temporary)") }
      guard fsync(file.number) == 0 else { throw SystemError("fsync \(temporary)") }
      if isReplaced {
        try FileNames.move(temporary, to: path)
      } else {
        try FileNames.link(temporary, as: path)
      }
      let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
      try FileNames.synchronize(folder: folder)
    } catch {
      let shown = PrintableText.field(path)
      complain("--token-file \(shown) cannot be written: \(error); the token is on standard output")
      say(token)
      throw ExitStatus.ioError
    }
  }

  /// - Returns: whether there is a file for it.
  static func keep(_ token: String, in file: TokenFile?) throws -> Bool {
    guard let file else { return false }
    try file.keep(token)
    return true
  }

  /// A program that reads the file by its own user goes on reading it after root has rotated the token.
  private static func giveToOwner(of path: String, _ file: borrowing OwnedDescriptor) throws(SystemError) {
    var status = stat()
    // Fills the structure and keeps nothing.
    guard geteuid() == 0, unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
    guard fchown(file.number, status.st_uid, status.st_gid) == 0 else { throw SystemError("fchown \(path)") }
  }
}
