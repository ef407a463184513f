/// Which files and folders the gate needs while it serves, and as whom it would not get at them.
import Bytes
package import Configuration
import KeyStore
package import System

/// One file or folder, and what is done with it.
package struct FileNeed {
  /// The setting that names it, or the option.
  let setting: String
  let path: String
  let wishes: [FileStatus.Wish]
  /// Read at the start, perhaps as root, and again at SIGHUP, as whom the gate serves.
  var isForReload = false

  /// What stands in the way of `account`, by owners and modes; nil when nothing does.
  package func hindrance(_ account: Account) -> String? {
    do {
      return try foundObstacle(to: account)
    } catch {
      return "\(name): \(error)"
    }
  }

  /// The same as far as it can be seen.
  func obstacle(to account: Account) -> String? { (try? foundObstacle(to: account)) ?? nil }

  private func foundObstacle(to account: Account) throws(SystemError) -> String? {
    guard let obstacle = try AccessObstacle.first(at: RealPath.of(path), wishes, account) else { return nil }
    return "\(account) \(Self.verb(obstacle.wish)) \(PrintableText.field(obstacle.path)), for \(name): "
      + "change its owner or mode"
  }

  private var name: String { "\(setting)=\(PrintableText.field(path))" }

  private static func verb(_ wish: FileStatus.Wish) -> String {
    switch wish {
    case .read: "may not read"
    case .write: "may not write to"
    case .search: "may not enter"
    }
  }
}

package enum FileNeeds {
  /// - Parameter file: of `--config`.
  package static func of(_ files: GateFiles, file: String?) -> [FileNeed] {
    reading(files, file) + writing(files)
  }

  /// Folders in which the gate makes and removes files.
  package static func folders(_ files: GateFiles) -> [String] {
    [
      files.storePath.map(storeFolder), files.controlSocketPath.map(folder), files.receiptsPath,
      files.devicesPath.map(folder), files.approvalsSocket?.path.map(folder),
      files.admin.listen?.path.map(folder), files.admin.isOn ? folder(of: files.admin.tokensPath) : nil,
    ].compactMap(\.self)
  }

  private static func reading(_ files: GateFiles, _ file: String?) -> [FileNeed] {
    let named = [
      ("--config", file), ("TLS_CERT_PATH", files.certificatePath), ("TLS_KEY_PATH", files.keyPath),
      ("MTLS_CLIENT_CA_PATH", files.clientCAPath), ("APPATTEST_ROOT_CA_PATH", files.rootPath),
      ("TLS_NEXT_KEY_PATH", files.nextKeyPath), ("ASSURANCE_POLICY", files.assurancePolicyPath),
      ("APPROVAL_POLICY", files.approvalPolicyPath), ("ANDROID_ROOTS_PATH", files.android.rootsPath),
      ("RISK_POLICY", files.riskPolicyPath),
      ("PLAY_INTEGRITY_KEYS_PATH", files.android.playKeysPath),
      (files.countriesSetting, files.countriesPath), (files.networksSetting, files.networksPath),
    ]
    let needs = named.compactMap { setting, path in
      path.map { FileNeed(setting: setting, path: $0, wishes: [.read], isForReload: true) }
    }
    // Whenever it changes.
    guard let path = files.android.revocationPath else { return needs }
    return needs + [FileNeed(setting: "ANDROID_REVOCATION_PATH", path: path, wishes: [.read])]
  }

  private static func writing(_ files: GateFiles) -> [FileNeed] {
    var needs: [FileNeed] = []
    if let path = files.receiptsPath {
      needs.append(FileNeed(setting: "RECEIPTS_PATH", path: path, wishes: [.write, .search]))
    }
    if let path = files.storePath { needs += writing(store: path) }
    if let path = files.pseudonymKeyPath {
      // Made once, and only read from then on.
      let (setting, folder) = ("DEVICE_PSEUDONYM_KEY_PATH", folder(of: path))
      if WholeFile.exists(path) {
        needs.append(FileNeed(setting: setting, path: path, wishes: [.read]))
      } else if folder != files.storePath.map(self.folder) {
        needs.append(FileNeed(setting: setting, path: folder, wishes: [.write, .search]))
      }
    }
    for (setting, path) in [
      ("CONTROL_SOCKET", files.controlSocketPath), ("APPROVALS_SOCKET", files.approvalsSocket?.path),
      ("ADMIN_LISTEN", files.admin.listen?.path),
    ] {
      guard let path else { continue }
      needs.append(FileNeed(setting: setting, path: folder(of: path), wishes: [.write, .search]))
    }
    if let path = files.devicesPath { needs += writing(devices: path) }
    if files.admin.isOn { needs += writing(tokens: files.admin.tokensPath) }
    return needs
  }

  /// Another file is put in the place of the one before.
  private static func writing(tokens path: String) -> [FileNeed] {
    let setting = "ADMIN_TOKENS_PATH"
    let folder = FileNeed(setting: setting, path: folder(of: path), wishes: [.write, .search])
    return [folder]
      + (WholeFile.exists(path) ? [FileNeed(setting: setting, path: path, wishes: [.read])] : [])
  }

  /// The database, and what SQLite puts beside it.
  private static func writing(devices path: String) -> [FileNeed] {
    let setting = "DEVICES_PATH"
    let folder = FileNeed(setting: setting, path: folder(of: path), wishes: [.write, .search, .read])
    let files = [path, path + "-wal", path + "-journal"].filter(WholeFile.exists)
    return [folder] + files.map { FileNeed(setting: setting, path: $0, wishes: [.read, .write]) }
  }

  private static func writing(store path: String) -> [FileNeed] {
    var needs: [FileNeed] = []
    let folder = storeFolder(path)
    needs.append(
      FileNeed(setting: "ATTESTED_KEYS_PATH", path: folder, wishes: [.write, .search, .read]))
    let store = (try? RealPath.of(path)) ?? path
    // What an earlier gate left, perhaps as somebody else.
    var files = [(store, [FileStatus.Wish.read]), (store + ".lock", [.read, .write])]
    let base = store.split(separator: "/").last.map(String.init) ?? store
    for name in ((try? LinuxFiles().list(folder)) ?? []).sorted() where name.hasPrefix(base + ".journal.") {
      files.append((folder + "/" + name, [.read]))
    }
    for (path, wishes) in files where WholeFile.exists(path) {
      needs.append(FileNeed(setting: "ATTESTED_KEYS_PATH", path: path, wishes: wishes))
    }
    return needs
  }

  /// A link is followed first: the temporary file lies beside what it leads to.
  private static func storeFolder(_ store: String) -> String {
    folder(of: (try? RealPath.of(store)) ?? store)
  }

  package static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}
