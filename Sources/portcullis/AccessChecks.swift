/// The part of `portcullis check` that looks at owners, modes and mounts of the gate's files.
import Bytes
import Configuration
import System

struct AccessChecks {
  let configuration: GateConfiguration
  /// The process that answers on the control socket.
  let running: Int?
  /// The user whom `--user` names.
  let named: Account?

  func check(_ report: inout CheckReport) {
    checkPrivateKey(&report)
    checkFolders(&report)
    checkStoreFiles(&report)
    if let (account, why) = servingAccount { checkAccount(account, why, &report) }
  }

  // MARK: Whom files are open to

  private func checkPrivateKey(_ report: inout CheckReport) {
    guard let path = configuration.tls?.keyPath, let status = try? FileStatus.of(path) else { return }
    if status.isOthersToRead || status.isOthersToWrite {
      report.warning(
        "key", "\(shown(path)) is open to other users (mode \(octal(status))): chmod 600 \(shown(path))")
    } else {
      report.ok("key", "\(shown(path)) is its owner's alone (mode \(octal(status)))")
    }
  }

  /// Who may write to the folder may put another store or socket in place.
  private func checkFolders(_ report: inout CheckReport) {
    var folders = [("store", folder(of: configuration.store.path))]
    let socket = folder(of: configuration.controlSocketPath)
    if socket != folders[0].1 { folders.append(("control_socket", socket)) }
    if let receipts = configuration.attest.receiptsPath { folders.append(("receipts", receipts)) }
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
    let path = configuration.store.path
    guard let real = try? RealPath.of(path), let status = try? FileStatus.of(real) else { return }
    if status.isOthersToRead || status.isOthersToWrite {
      report.warning(
        "store", "\(shown(path)) is open to other users (mode \(octal(status))): chmod 600 \(shown(path))")
    }
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
    guard Account.effectiveUser == 0 else { return nil }
    if let running, let status = try? FileStatus.of("/proc/\(running)"), status.user != 0 {
      return (Account.of(user: status.user), "user of the running gate")
    }
    let folder = folder(of: configuration.store.path)
    guard let status = try? FileStatus.of(folder), status.user != 0 else { return nil }
    return (Account.of(user: status.user), "owner of \(shown(folder)); --user names another")
  }

  private func checkAccount(_ account: Account, _ why: String, _ report: inout CheckReport) {
    var isHindered = false
    for (setting, path, wishes) in needs {
      do {
        guard let obstacle = try AccessObstacle.first(at: RealPath.of(path), wishes, account) else {
          continue
        }
        report.problem(
          "user",
          "\(account) \(verb(obstacle.wish)) \(shown(obstacle.path)), for \(setting)=\(shown(path)): "
            + "change its owner or mode", .configuration)
      } catch {
        report.problem("user", "\(setting)=\(shown(path)): \(error)", .configuration)
      }
      isHindered = true
    }
    if !isHindered { report.ok("user", "\(account) gets at all files (\(why))") }
  }

  private var needs: [(setting: String, path: String, wishes: [FileStatus.Wish])] {
    let folderWishes: [FileStatus.Wish] = [.write, .search]
    var needs: [(String, String, [FileStatus.Wish])] = []
    if let tls = configuration.tls {
      needs += [("TLS_CERT_PATH", tls.certificatePath, [.read]), ("TLS_KEY_PATH", tls.keyPath, [.read])]
    }
    if configuration.mtls.fallback, let path = configuration.mtls.clientCAPath {
      needs.append(("MTLS_CLIENT_CA_PATH", path, [.read]))
    }
    if let path = configuration.attest.rootPath { needs.append(("APPATTEST_ROOT_CA_PATH", path, [.read])) }
    if let path = configuration.attest.receiptsPath { needs.append(("RECEIPTS_PATH", path, folderWishes)) }
    let store = configuration.store.path
    // A link is followed first: the temporary file lies beside what it leads to.
    needs.append(
      ("ATTESTED_KEYS_PATH", folder(of: (try? RealPath.of(store)) ?? store), folderWishes + [.read]))
    for path in [store, store + ".lock"] where WholeFile.exists(path) {
      needs.append(("ATTESTED_KEYS_PATH", path, path == store ? [.read] : [.read, .write]))
    }
    needs.append(("CONTROL_SOCKET", folder(of: configuration.controlSocketPath), folderWishes))
    return needs
  }

  private func verb(_ wish: FileStatus.Wish) -> String {
    switch wish {
    case .read: "may not read"
    case .write: "may not write to"
    case .search: "may not enter"
    }
  }

  // MARK: Words

  private func shown(_ path: String) -> String { PrintableText.field(path) }
  private func octal(_ status: FileStatus) -> String { "0" + String(status.mode, radix: 8) }

  private func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private func text(_ path: String) throws(SystemError) -> String {
    String(decoding: try WholeFile.read(path), as: UTF8.self)
  }
}

extension AccessChecks {
  /// The process that has the store locked, if it is not the one that answers.
  func stranger() -> Int32? {
    let path = configuration.store.path
    let lock = ((try? RealPath.of(path)) ?? path) + ".lock"
    guard let status = try? FileStatus.of(lock), let digits = try? text(lock).prefix(while: { $0 != "\n" }),
      let owner = Int32(digits), running.map({ Int($0) }) != Int(owner),
      let table = try? text("/proc/locks"), LockTable.isHeld(inode: status.inode, by: owner, in: table)
    else { return nil }
    return owner
  }
}
