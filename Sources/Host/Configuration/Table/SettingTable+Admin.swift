/// The settings of the admin listener; without `ADMIN_LISTEN` there is nothing of it.
internal import Addresses

extension SettingTable {
  static let admin: [Setting] = [
    Setting(
      "ADMIN_LISTEN", .adminAddress, \.admin.listen, default: "off", in: .admin,
      "Where probes, metrics and the console are served, such as 127.0.0.1:8444; an address that others reach gets the "
        + "gate's TLS and asks for tokens."),
    Setting(
      "ADMIN_METRICS_TOKEN", .boolean, \.admin.metricsNeedToken, default: "false", in: .admin,
      isReloadable: true,
      "Whether /metrics asks for a token on this host too; false, as numbers name nobody. Others always need one."
    ),
    Setting(
      "ADMIN_OPERATORS", .users, \.admin.operators, otherwise: "nobody", in: .admin, isReloadable: true,
      "Users of this host who may sign in to the console; the kernel tells who asks for a link."),
    Setting(
      "ADMIN_HOSTS", .hostNames, \.admin.hosts, otherwise: "addresses, localhost and the certificate's names",
      in: .admin,
      isReloadable: true,
      "More names by which browsers may call the console, as behind a proxy; others are refused, for any site could "
        + "lead its own name here."),
    Setting(
      "ADMIN_TOKENS_PATH", .path, optional: \.stated.adminTokensPath,
      otherwise: "admin-tokens.json beside ATTESTED_KEYS_PATH", in: .admin,
      "The file of the tokens that programs show, of each only its SHA-256."),
    Setting(
      "READY_NEEDS", .choice, \.admin.readyNeeds, default: "nothing", in: .admin, isReloadable: true,
      "Whether /readyz fails while the game is away; nothing, as another gate would not reach the same game either."
    ),
  ]
}

extension SettingSyntax where Value == GateConfiguration.AdminAddress? {
  static let adminAddress = SettingSyntax("off, address:port with IPv6 in brackets, or unix:/path/to/socket")
  {
    (text) throws(SettingError) in
    if text == "off" { return nil }
    if text.hasPrefix("unix:") {
      let path = String(text.dropFirst(5))
      guard (1...BackendTarget.longestSocketPath).contains(path.utf8.count), !path.utf8.contains(0) else {
        throw SettingError("has no path of 1 to \(BackendTarget.longestSocketPath) bytes")
      }
      return .unix(path: path)
    }
    do throws(ListenAddress.ParseError) {
      return .tcp(try ListenAddress(parsing: text).endpoint)
    } catch {
      switch error {
      case .malformed: throw SettingError("is neither an address with its port nor a socket")
      case .mapped: throw SettingError("is an IPv4 address in IPv6 form")
      case .multicast: throw SettingError("is a multicast address")
      }
    }
  }
}
