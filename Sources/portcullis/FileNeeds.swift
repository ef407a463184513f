/// Which files and folders the gate needs while it serves, and as whom it would not get at them.
import Bytes
import Configuration
import KeyStore
import System

/// One file or folder, and what is done with it.
struct FileNeed {
  /// The setting that names it, or the option.
  let setting: String
  let path: String
  let wishes: [FileStatus.Wish]
  /// Read at the start, perhaps as root, and again at SIGHUP, as whom the gate serves.
  var isForReload = false

  /// What stands in the way of `account`, by owners and modes; nil when nothing does.
  func hindrance(_ account: Account) -> String? {
    let name = "\(setting)=\(PrintableText.field(path))"
    do {
      guard let obstacle = try AccessObstacle.first(at: RealPath.of(path), wishes, account) else {
        return nil
      }
      return "\(account) \(Self.verb(obstacle.wish)) \(PrintableText.field(obstacle.path)), for \(name): "
        + "change its owner or mode"
    } catch {
      return "\(name): \(error)"
    }
  }

  private static func verb(_ wish: FileStatus.Wish) -> String {
    switch wish {
    case .read: "may not read"
    case .write: "may not write to"
    case .search: "may not enter"
    }
  }
}

enum FileNeeds {
  /// - Parameter file: of `--config`.
  static func of(_ configuration: GateConfiguration, file: String?) -> [FileNeed] {
    reading(configuration, file) + writing(configuration)
  }

  /// Folders in which the gate makes and removes files.
  static func folders(_ configuration: GateConfiguration) -> [String] {
    [storeFolder(configuration), folder(of: configuration.controlSocketPath)]
      + [configuration.attest.receiptsPath].compactMap(\.self)
  }

  private static func reading(_ configuration: GateConfiguration, _ file: String?) -> [FileNeed] {
    var files: [(String, String?)] = [
      ("--config", file), ("TLS_CERT_PATH", configuration.tls?.certificatePath),
      ("TLS_KEY_PATH", configuration.tls?.keyPath),
    ]
    if configuration.mtls.fallback { files.append(("MTLS_CLIENT_CA_PATH", configuration.mtls.clientCAPath)) }
    files.append(("APPATTEST_ROOT_CA_PATH", configuration.attest.rootPath))
    return files.compactMap { setting, path in
      path.map { FileNeed(setting: setting, path: $0, wishes: [.read], isForReload: true) }
    }
  }

  private static func writing(_ configuration: GateConfiguration) -> [FileNeed] {
    var needs: [FileNeed] = []
    if let path = configuration.attest.receiptsPath {
      needs.append(FileNeed(setting: "RECEIPTS_PATH", path: path, wishes: [.write, .search]))
    }
    let folder = storeFolder(configuration)
    needs.append(
      FileNeed(setting: "ATTESTED_KEYS_PATH", path: folder, wishes: [.write, .search, .read]))
    let store = (try? RealPath.of(configuration.store.path)) ?? configuration.store.path
    // What an earlier gate left, perhaps as somebody else.
    var files = [(store, [FileStatus.Wish.read]), (store + ".lock", [.read, .write])]
    let base = store.split(separator: "/").last.map(String.init) ?? store
    for name in ((try? LinuxFiles().list(folder)) ?? []).sorted() where name.hasPrefix(base + ".journal.") {
      files.append((folder + "/" + name, [.read]))
    }
    for (path, wishes) in files where WholeFile.exists(path) {
      needs.append(FileNeed(setting: "ATTESTED_KEYS_PATH", path: path, wishes: wishes))
    }
    needs.append(
      FileNeed(
        setting: "CONTROL_SOCKET", path: Self.folder(of: configuration.controlSocketPath),
        wishes: [.write, .search]))
    return needs
  }

  /// A link is followed first: the temporary file lies beside what it leads to.
  private static func storeFolder(_ configuration: GateConfiguration) -> String {
    let store = configuration.store.path
    return folder(of: (try? RealPath.of(store)) ?? store)
  }

  static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}
