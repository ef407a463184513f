/// The syntax of names, paths and comma-separated lists.
internal import Addresses
internal import Charsets
internal import Identity

extension SettingSyntax where Value == String {
  /// A path of the operating system, at most 4,095 bytes (PATH_MAX less the NUL, limits.h).
  static let path = SettingSyntax("a path") { (text) throws(SettingError) in
    guard !text.utf8.contains(0) else { throw SettingError("has a NUL byte") }
    guard text.utf8.count <= 4095 else { throw SettingError("is too long for a path") }
    return text
  }

  static let socketPath = SettingSyntax("a path of at most \(BackendTarget.longestSocketPath) bytes") {
    (text) throws(SettingError) in
    guard !text.utf8.contains(0) else { throw SettingError("has a NUL byte") }
    guard text.utf8.count <= BackendTarget.longestSocketPath else {
      throw SettingError("is too long for a UNIX socket")
    }
    return text
  }

  /// Any word: `NODE_ENV` is of Node's world, where programs have names of their own for it. It is only compared.
  static let nodeEnvironment = SettingSyntax("production, development, test or staging") { text in text }

  /// One of the words, as a slip would relax everything.
  static let gateEnvironment = SettingSyntax("production, development, test or staging") {
    (text) throws(SettingError) in
    guard GateConfiguration.environments.contains(GateConfiguration.normalized(text)) else {
      throw SettingError("is none of the environments")
    }
    return text
  }

  static let teamID = SettingSyntax("the ten of A-Z and 0-9 that Apple gave the team") {
    (text) throws(SettingError) in
    guard AppID.isTeamID(text) else { throw SettingError("is not a team identifier") }
    return text
  }

  static let bundleID = SettingSyntax("a bundle identifier such as com.example.app") {
    (text) throws(SettingError) in
    guard AppID.isBundleID(text) else { throw SettingError("is not a bundle identifier") }
    return text
  }
}

extension SettingSyntax where Value == GateConfiguration.RunAs {
  static let runAs = SettingSyntax("a user, or user:group, by name or number") {
    (text) throws(SettingError) in
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    guard parts.count <= 2 else { throw SettingError("has more than a user and a group") }
    guard parts.allSatisfy(isAccountName) else { throw SettingError("is no user or group") }
    return GateConfiguration.RunAs(user: parts[0], group: parts.count == 2 ? parts[1] : nil)
  }
}

/// What passwd(5) could not hold, and blanks, are a slip of the hand.
private func isAccountName(_ text: String) -> Bool {
  !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != 0x3A }
}

extension SettingSyntax where Value == String {
  static let group = SettingSyntax("a group, by name or number") { (text) throws(SettingError) in
    guard isAccountName(text) else { throw SettingError("is no group") }
    return text
  }
}

extension SettingSyntax where Value == [String] {
  static let users = SettingSyntax("users by name or number, several with commas") {
    (text) throws(SettingError) in
    try list(text) { (item) throws(SettingError) in
      guard isAccountName(item) else { throw SettingError("has \(quoted(item)), which is no user") }
      return item
    }
  }

  /// As `Host` has them, which is compared without regard to case.
  static let hostNames = SettingSyntax("host names without a port, several with commas") {
    (text) throws(SettingError) in
    try list(text) { (item) throws(SettingError) in
      guard case .tcp(let host, _) = try? BackendTarget(parsing: "\(item):1"), IPAddress(host) == nil else {
        throw SettingError("has \(quoted(item)), which is no host name")
      }
      return host.lowercased()
    }
  }

  /// As the claim `aud` of a token has them.
  static let audiences = SettingSyntax("names of programs, each of 1 to 256 bytes, several with commas") {
    (text) throws(SettingError) in
    try list(text) { (item) throws(SettingError) in
      guard item.utf8.count <= 256 else { throw SettingError("has a name of more than 256 bytes") }
      guard item.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
        throw SettingError("has \(quoted(item)), with a blank or a letter beyond ASCII")
      }
      return item
    }
  }
}

extension SettingSyntax where Value == [GateConfiguration.SiteStrength] {
  static let strengths = SettingSyntax(
    "SITE=dBm from -127 to 20, several with commas, such as hall=-70,*=-85"
  ) {
    (text) throws(SettingError) in
    var sites: [[UInt8]] = []
    return try list(text) { (item) throws(SettingError) in
      // A site may have the sign in its name, a number has not.
      guard let sign = item.lastIndex(of: "="), sign != item.startIndex else {
        throw SettingError("has \(quoted(item)), which is no SITE=dBm")
      }
      let (site, number) = (String(item[..<sign]), item[item.index(after: sign)...])
      let isPlain = number.utf8.allSatisfy { $0 != UInt8(ascii: "+") }
      guard isPlain, let minimum = Int64(number), (-127...20).contains(minimum) else {
        throw SettingError("has \(quoted(item)), with no number from -127 to 20")
      }
      guard !sites.contains(Array(site.utf8)) else {
        throw SettingError("has the site \(quoted(site)) twice")
      }
      sites.append(Array(site.utf8))
      return GateConfiguration.SiteStrength(site: site, minimum: minimum)
    }
  }
}

extension SettingSyntax where Value == BackendTarget {
  static let backend = SettingSyntax("host:port, unix:/path/to/socket or echo:") {
    (text) throws(SettingError) in
    do throws(BackendTarget.ParseError) {
      return try BackendTarget(parsing: text)
    } catch {
      switch error {
      case .malformed: throw SettingError("has no port", remedy: "write \(withPort(text))")
      case .malformedPort: throw SettingError("has no port from 1 to 65535 (an IPv6 address needs brackets)")
      case .portZero: throw SettingError("has port 0")
      case .malformedHost: throw SettingError("has neither an address nor a host name")
      case .malformedPath:
        throw SettingError("has no path of 1 to \(BackendTarget.longestSocketPath) bytes")
      }
    }
  }
}

/// Of a target without a port or a scheme: a path is that of a socket, all else may be a host.
private func withPort(_ text: String) -> String {
  if text.contains("/") { return "unix:\(quoted(text))" }
  let isHost = (try? BackendTarget(parsing: "\(text):4000")) != nil
  return isHost ? "\(quoted(text)):4000, with the port of the game" : "host:port, such as localhost:4000"
}

extension SettingSyntax where Value == Charset {
  static let charset = SettingSyntax("one of " + Charset.allCases.map(\.name).joined(separator: ", ")) {
    (text) throws(SettingError) in
    guard let charset = Charset(named: text) else { throw SettingError("is no charset that is known here") }
    return charset
  }
}

extension SettingSyntax where Value == [String] {
  static let subprotocols = SettingSyntax(
    "all, or with commas some of " + GateConfiguration.Sessions.allSubprotocols.joined(separator: ", ")
  ) { (text) throws(SettingError) in
    if text == "all" { return GateConfiguration.Sessions.allSubprotocols }
    return try list(text) { (item) throws(SettingError) in
      guard GateConfiguration.Sessions.allSubprotocols.contains(item) else {
        throw SettingError("has \(quoted(item)), which is no subprotocol of the gate")
      }
      return item
    }
  }

  /// Names as GMCP has them; with `.*` behind, all below a name.
  static let packages = SettingSyntax("GMCP packages such as Char.Vitals or Char.*, several with commas") {
    (text) throws(SettingError) in
    try list(text) { (item) throws(SettingError) in
      let name = item.hasSuffix(".*") ? item.dropLast(2) : item[...]
      let isName = name.utf8.allSatisfy { byte in
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || "_.-".utf8.contains(byte)
      }
      guard isName, let first = name.utf8.first, (0x61...0x7A).contains(first | 0x20), name.utf8.count <= 64
      else { throw SettingError("has \(quoted(item)), which is no package") }
      return item
    }
  }
}

extension SettingSyntax where Value == [Endpoint] {
  static let endpoints = SettingSyntax("address:port, several with commas, IPv6 in brackets") {
    (text) throws(SettingError) in
    try list(text) { (item) throws(SettingError) in
      do throws(ListenAddress.ParseError) {
        return try ListenAddress(parsing: item).endpoint
      } catch {
        switch error {
        case .malformed: throw SettingError("has \(quoted(item)), which is not address:port")
        case .mapped: throw SettingError("has \(quoted(item)), an IPv4 address in IPv6 form")
        case .multicast: throw SettingError("has \(quoted(item)), a multicast address")
        }
      }
    }
  }
}

extension SettingSyntax where Value == [CIDRBlock] {
  static let blocks = SettingSyntax("addresses or blocks such as 10.0.0.0/8, several with commas") {
    (text) throws(SettingError) in
    try list(text) { (item) throws(SettingError) in
      do throws(CIDRBlock.ParseError) {
        return try CIDRBlock(parsing: item)
      } catch {
        switch error {
        case .malformedAddress: throw SettingError("has \(quoted(item)), which is no address")
        case .malformedLength, .lengthOutOfRange:
          throw SettingError("has \(quoted(item)), whose prefix length is wrong")
        case .hostBitsSet(let block):
          throw SettingError("has \(quoted(item)), where bits after the prefix are set (\(block) is meant?)")
        }
      }
    }
  }
}

extension SettingSyntax where Value == [AppID] {
  static let appIDs = SettingSyntax("TEAMID.bundle.identifier, several with commas") {
    (text) throws(SettingError) in
    try list(text) { (item) throws(SettingError) in
      guard let appID = AppID(item) else {
        throw SettingError("has \(quoted(item)), which is no App ID: \(flaw(ofAppID: item))")
      }
      return appID
    }
  }
}

/// Which half of an App ID is wrong, and how.
private func flaw(ofAppID text: String) -> String {
  guard let dot = text.firstIndex(of: ".") else { return "it has no full stop after the team" }
  let team = String(text[..<dot])
  if team.utf8.count != AppID.teamIDLength {
    return "its team has \(team.utf8.count) characters, and Apple's have \(AppID.teamIDLength)"
  }
  return AppID.isTeamID(team)
    ? "what follows the team is no bundle identifier" : "its team has characters other than A-Z and 0-9"
}

extension SettingSyntax where Value == AllowedOrigins {
  static let origins = SettingSyntax("scheme://host[:port] without a path, null or *, several with commas") {
    (text) throws(SettingError) in
    let entries = try list(text) { (item) throws(SettingError) in
      guard AllowedOrigins.isEntry(item) else {
        throw SettingError("has \(quoted(item)), which is no origin")
      }
      return item
    }
    guard let origins = AllowedOrigins(entries: entries) else { throw SettingError("is no list of origins") }
    return origins
  }
}

extension SettingSyntax where Value == Set<UInt32> {
  static let categories = SettingSyntax("numbers, several with commas") { (text) throws(SettingError) in
    let numbers = try list(text) { (item) throws(SettingError) in
      guard item.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt32(item) else {
        throw SettingError("has \(quoted(item)), which is no number of 32 bits")
      }
      return number
    }
    return Set(numbers)
  }
}

extension SettingSyntax where Value == Set<String> {
  /// `longest` is what an authenticator may state (docs/app-attest.md, "Launch information").
  static func words(longest: Int) -> Self {
    SettingSyntax("words of at most \(longest) bytes, several with commas") { (text) throws(SettingError) in
      let words = try list(text) { (item) throws(SettingError) in
        guard item.utf8.count <= longest else {
          throw SettingError("has a word of more than \(longest) bytes")
        }
        return item
      }
      return Set(words)
    }
  }
}

/// Items between commas, blanks around them ignored; none may be empty or come twice.
private func list<Item: Hashable>(
  _ text: String, _ parse: (String) throws(SettingError) -> Item
) throws(SettingError) -> [Item] {
  var items: [Item] = []
  var seen: Set<Item> = []
  for part in text.split(separator: ",", omittingEmptySubsequences: false) {
    let word = trimmed(part)
    guard !word.isEmpty else { throw SettingError("has an empty item") }
    let item = try parse(word)
    guard seen.insert(item).inserted else { throw SettingError("has \(quoted(word)) twice") }
    items.append(item)
  }
  return items
}

/// Without blanks and tabs at the ends.
func trimmed(_ text: some StringProtocol) -> String {
  var bytes = Array(text.utf8)[...]
  while let first = bytes.first, first == 0x20 || first == 0x09 { bytes.removeFirst() }
  while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
  return String(decoding: bytes, as: UTF8.self)
}
