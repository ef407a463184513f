/// The part of `portcullis check` that looks at owners, modes and mounts of the gate's files.
import Assembly
import Bytes
package import Configuration
package import Confinement
import KeyStore
import Prompt
package import System

package struct AccessChecks {
  package let files: GateFiles
  /// Of `--config`.
  package let file: String?
  /// The process that answers on the control socket.
  package let running: Int?
  /// The user whom `--user` names.
  package let named: Account?
  /// The user of `RUN_AS`.
  package let wanted: ServingUser?

  package init(files: GateFiles, file: String?, running: Int?, named: Account?, wanted: ServingUser?) {
    self.files = files
    self.file = file
    self.running = running
    self.named = named
    self.wanted = wanted
  }

  package func check(_ report: inout CheckReport) {
    checkPrivateKey(&report)
    checkFolders(&report)
    checkStoreFiles(&report)
    if let (account, why) = servingAccount { checkAccount(account, why, &report) }
  }

  // MARK: Whom files are open to

  private func checkPrivateKey(_ report: inout CheckReport) {
    if let path = files.keyPath { exposure.check(path, as: "key", &report) }
    if let path = files.nextKeyPath { exposure.check(path, as: "next_key", &report) }
  }

  /// What is open to the gate's own groups is open to nobody else: a key of root's for the group of the gate is how
  /// packages have it.
  package var exposure: FileExposure {
    FileExposure(gate: servingAccount?.0 ?? wanted?.account ?? .ofProcess)
  }

  /// Who may write to the folder may put another store or socket in place.
  private func checkFolders(_ report: inout CheckReport) {
    var folders: [(String, String)] = []
    if let store = files.storePath { folders.append(("store", FileNeeds.folder(of: store))) }
    if let socket = files.controlSocketPath.map(FileNeeds.folder), socket != folders.first?.1 {
      folders.append(("control_socket", socket))
    }
    if let receipts = files.receiptsPath { folders.append(("receipts", receipts)) }
    if let devices = files.devicesPath.map(FileNeeds.folder), !folders.contains(where: { $0.1 == devices }) {
      folders.append(("devices", devices))
    }
    for (name, path) in folders {
      guard let status = try? FileStatus.of(path) else { continue }
      if status.isOthersToWrite {
        report.warning(
          name,
          "other users may write to the folder \(shown(path)) (mode \(octal(status))): chmod go-w \(shown(path))"
        )
      } else {
        report.ok(name, "only its owner writes to the folder \(shown(path)) (mode \(octal(status)))")
      }
    }
  }

  private func checkStoreFiles(_ report: inout CheckReport) {
    guard let path = files.storePath else { return }
    let lock = ((try? RealPath.of(path)) ?? path) + ".lock"
    if (try? LinuxFiles().identity(of: lock))?.isLink == true {
      report.problem("store", KeyStoreError.symbolicLink(shown(lock)).description, .configuration)
    }
    guard let real = try? RealPath.of(path) else { return }
    exposure.check(path, as: "store", &report)
    // Only told by the kernel's table: to try a rename would be to change something.
    if let table = try? text("/proc/self/mountinfo"), MountTable.hasMount(at: real, in: table) {
      report.problem(
        "store", "\(shown(path)) is a mount of its own and cannot be replaced: mount its directory instead",
        .configuration)
    }
  }

  // MARK: Whether the gate's user gets at them

  /// Only for others than ourselves: what we can do ourselves has been tried by now.
  private var servingAccount: (Account, String)? {
    if let named { return (named, "named by --user") }
    if let wanted { return wanted.user == Account.effectiveUser ? nil : (wanted.account, "RUN_AS") }
    guard Account.effectiveUser == 0 else { return nil }
    if let running, let user = userOfProcess(running), user != 0 {
      return (Account.of(user: user), "user of the running gate")
    }
    guard let folder = files.storePath.map(FileNeeds.folder), let status = try? FileStatus.of(folder),
      status.user != 0
    else { return nil }
    return (Account.of(user: status.user), "owner of \(shown(folder)); --user names another")
  }

  /// The effective one. The folder of the process in /proc says root where it may not be traced.
  private func userOfProcess(_ process: Int) -> UInt32? {
    guard let status = try? text("/proc/\(process)/status"),
      let line = status.split(separator: "\n").first(where: { $0.hasPrefix("Uid:") })
    else { return nil }
    let numbers = line.split(whereSeparator: \.isWhitespace)
    return numbers.count > 2 ? UInt32(numbers[2]) : nil
  }

  private func checkAccount(_ account: Account, _ why: String, _ report: inout CheckReport) {
    let hindrances = FileNeeds.of(files, file: file).compactMap { $0.hindrance(account) }
    for hindrance in hindrances { report.problem("user", hindrance, .configuration) }
    if hindrances.isEmpty { report.ok("user", "\(account) gets at all files (\(why))") }
  }

  // MARK: Words

  private func shown(_ path: String) -> String { PrintableText.field(path) }
  private func octal(_ status: FileStatus) -> String { "0" + String(status.mode, radix: 8) }

  private func text(_ path: String) throws(SystemError) -> String {
    String(decoding: try WholeFile.read(path), as: UTF8.self)
  }
}

extension AccessChecks {
  /// The process that has the store locked, if it is not the one that answers.
  package func stranger() -> Int32? {
    guard let path = files.storePath else { return nil }
    let lock = ((try? RealPath.of(path)) ?? path) + ".lock"
    guard let status = try? FileStatus.of(lock), let digits = try? text(lock).prefix(while: { $0 != "\n" }),
      let owner = Int32(digits), running.map({ Int($0) }) != Int(owner),
      let table = try? text("/proc/locks"), LockTable.isHeld(inode: status.inode, by: owner, in: table)
    else { return nil }
    return owner
  }
}
