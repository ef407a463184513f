/// What the pages of keys show: the store is looked through a piece at a time, and never copied whole.
import Admin
import Assembly
import Bytes
import DeviceWire
import Gateway
import Identity
import JSON
import KeyStore
import Registry
import System
import Time

extension ConsolePages {
  /// Positions that are looked at in one order, and for one page: a search for a rare key among millions says where the
  /// search goes on.
  private static let piece = 4096
  private static let most = 2_000_000
  private static let shortestBeginning = 8

  // MARK: A list

  func keys(_ query: AdminForm) throws(ConsoleFailure) -> KeysPage {
    let filter = KeysPage.Filter(
      text: query["text"] ?? "", app: query["app"] ?? "",
      state: query["state"].flatMap { KeyRow.State(rawValue: $0) }, since: query["since"] ?? "",
      until: query["until"] ?? "")
    let apps = sources.store.apps()
    var problems: [FieldProblem] = []
    let since = filter.since.isEmpty ? nil : Day(filter.since)
    if !filter.since.isEmpty, since == nil { problems.append(Day.problem("since", filter.since)) }
    let until = filter.until.isEmpty ? nil : Day(filter.until)
    if !filter.until.isEmpty, until == nil { problems.append(Day.problem("until", filter.until)) }
    guard problems.isEmpty else {
      return KeysPage(filter: filter, problems: problems, apps: apps, rows: [], end: ListEnd())
    }
    let search = KeySearch(filter, since: since, until: until, key: sources.pseudonyms, now: now)
    let after = query["after"].map { KeyCursor($0) }
    let (found, next) = find(after: after, search)
    return KeysPage(
      filter: filter, apps: apps, rows: found.map(row),
      end: ListEnd(
        next: next?.text, isFirst: after == nil,
        total: search.isEverything ? gate.storeStatistics.keys : nil))
  }

  /// By their beginnings and pseudonyms; nothing for what cannot be one.
  func keys(called text: String, most: Int) -> [KeyRow] {
    guard text.utf8.count >= 4, text.utf8.allSatisfy(Self.isOfKeys) else { return [] }
    let filter = KeysPage.Filter(text: text, app: "", state: nil, since: "", until: "")
    let search = KeySearch(filter, since: nil, until: nil, key: sources.pseudonyms, now: now)
    return find(after: nil, search).found.prefix(most).map(row)
  }

  /// Base64 and base64url (RFC 4648 §4 and §5).
  private static func isOfKeys(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "-"),
      UInt8(ascii: "_"), UInt8(ascii: "="):
      true
    default: false
    }
  }

  /// - Returns: a page of keys, and where the next one begins.
  private func find(
    after start: KeyCursor?, _ search: KeySearch
  ) -> (found: [(identifier: KeyIdentifier, record: KeyRecord)], next: KeyCursor?) {
    if let whole = search.whole {
      guard let record = sources.store.records(of: [whole])[whole], search.isMeant(whole, record) else {
        return ([], nil)
      }
      return ([(whole, record)], nil)
    }
    var found: [(identifier: KeyIdentifier, record: KeyRecord)] = []
    var (cursor, last) = (start, start)
    var looked = 0
    // A page is soon full where every key is meant.
    var count = 2 * ListEnd.rowsPerPage
    while looked < Self.most {
      let (keys, next) = sources.store.browse(after: cursor, count: count)
      for key in keys where search.isMeant(key.identifier, key.record) {
        if found.count == ListEnd.rowsPerPage { return (found, last) }
        found.append((key.identifier, key.record))
        last = key.cursor
      }
      cursor = next
      if next == nil { break }
      looked += count
      count = min(Self.piece, count * 4)
    }
    return (found, cursor)
  }

  func row(_ found: (identifier: KeyIdentifier, record: KeyRecord)) -> KeyRow {
    row(found.identifier, found.record)
  }

  func row(_ identifier: KeyIdentifier, _ record: KeyRecord) -> KeyRow {
    KeyRow(
      id: identifier.base64, state: record.state(at: now),
      pseudonym: sources.pseudonyms?.pseudonym(ofKey: identifier).description, appID: record.appID,
      environment: record.environmentName, bundleVersion: record.bundleVersion,
      validationCategory: record.validationCategory.map { Int($0) }, registeredAt: record.registeredAt,
      lastUsedAt: record.lastUsedAt, signCount: Int(record.signCount), revokedAt: record.revokedAt,
      revokedReason: record.revokedReason, importedFrom: record.imported?.source.rawValue,
      goodUntil: record.imported?.goodUntil)
  }

  // MARK: One of them

  /// - Parameter name: the identifier in base64url, or enough of its beginning.
  func identifier(_ name: String) throws(ConsoleFailure) -> KeyIdentifier {
    if let whole = KeyIdentifier(base64: name) { return whole }
    let standard = String(name.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
    guard standard.utf8.count >= Self.shortestBeginning, standard.utf8.count < 44 else {
      throw .error(.notFound, "No key is called so: eight characters of its beginning are needed.")
    }
    var found: KeyIdentifier?
    var cursor: KeyCursor?
    repeat {
      let (keys, next) = sources.store.browse(after: cursor, count: Self.piece)
      for key in keys where key.identifier.base64.hasPrefix(standard) {
        guard found == nil else { throw .error(.notFound, "Several keys begin so: write more of it.") }
        found = key.identifier
      }
      cursor = next
    } while cursor != nil
    guard let found else { throw .error(.notFound, "No key begins so.") }
    return found
  }

  private func record(_ identifier: KeyIdentifier) throws(ConsoleFailure) -> KeyRecord {
    guard let record = sources.store.records(of: [identifier])[identifier] else {
      throw .error(.notFound, "No such key is registered.")
    }
    return record
  }

  func key(_ name: String, _ request: AdminRequest) throws(ConsoleFailure) -> KeyPage {
    let identifier = try identifier(name)
    let record = try record(identifier)
    let sessions = try sessions(request) { $0.keyID == identifier }
    var device: (id: String, name: String?)?
    if sources.hasDevices {
      let found = try ask(NameDevices(ids: [], keys: [identifier]), request).first?.device
      device = found.map { ($0.id.text, $0.name?.text) }
    }
    return KeyPage(
      key: row(identifier, record), sessions: sessions, deviceID: device?.id, deviceName: device?.name,
      refusals: try refusals(ofKey: identifier, device: nil, request))
  }

  func revokeKeyPage(
    _ name: String, reason: String, _ request: AdminRequest, _ problems: [FieldProblem] = []
  ) throws(ConsoleFailure) -> RevokeKeyPage {
    let identifier = try identifier(name)
    let record = try record(identifier)
    return RevokeKeyPage(
      key: row(identifier, record), sessions: try sessions(request) { $0.keyID == identifier }.count,
      reason: reason, problems: problems)
  }

  // MARK: All of them

  /// One JSON object a line, as `portcullis keys list --json` has them.
  func exportKeys() -> AdminAnswer {
    .stream(
      contentType: "application/jsonl; charset=utf-8", fileName: "portcullis-keys.jsonl",
      KeyLines(store: sources.store, pseudonyms: sources.pseudonyms))
  }
}

extension KeyRecord {
  fileprivate func state(at now: UnixTime) -> KeyRow.State {
    if revokedAt != nil { return .revoked }
    if isOver(at: now) { return .expired }
    return imported == nil ? .active : .imported
  }
}

/// What keys are looked for.
private struct KeySearch {
  let whole: KeyIdentifier?
  private let beginning: String
  private let pseudonym: DevicePseudonym?
  private let filter: KeysPage.Filter
  private let since: Day?
  private let until: Day?
  private let key: PseudonymKey?
  private let now: UnixTime

  init(_ filter: KeysPage.Filter, since: Day?, until: Day?, key: PseudonymKey?, now: UnixTime) {
    self.now = now
    self.filter = filter
    self.since = since
    self.until = until
    self.key = key
    whole = KeyIdentifier(base64: filter.text)
    // 22 characters may be a pseudonym, or the beginning of a key.
    pseudonym = key == nil ? nil : DevicePseudonym(filter.text)
    beginning = String(filter.text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
  }

  var isEverything: Bool {
    filter.text.isEmpty && filter.app.isEmpty && filter.state == nil && since == nil && until == nil
  }

  func isMeant(_ identifier: KeyIdentifier, _ record: KeyRecord) -> Bool {
    if let state = filter.state, record.state(at: now) != state { return false }
    if !filter.app.isEmpty, record.appID?.utf8.elementsEqual(filter.app.utf8) != true { return false }
    let used = record.lastUsedAt ?? record.registeredAt
    if let since, used < since.start { return false }
    if let until, used >= until.end { return false }
    if filter.text.isEmpty || whole != nil { return true }
    return identifier.base64.hasPrefix(beginning)
      || pseudonym.map { key?.pseudonym(ofKey: identifier) == $0 } == true
  }
}

/// Used by the slow thread alone.
private final class KeyLines: AdminBody, @unchecked Sendable {
  private static let piece = 1024

  private let store: any KeyBrowsing
  private let pseudonyms: PseudonymKey?
  private var cursor: KeyCursor?
  private var isOver = false

  init(store: any KeyBrowsing, pseudonyms: PseudonymKey?) {
    self.store = store
    self.pseudonyms = pseudonyms
  }

  func next() -> [UInt8]? {
    while !isOver {
      let (found, next) = store.browse(after: cursor, count: Self.piece)
      (cursor, isOver) = (next, next == nil)
      if found.isEmpty { continue }
      var lines: [UInt8] = []
      for key in found {
        lines += KeyText.json(key.identifier, key.record, pseudonyms?.pseudonym(ofKey: key.identifier)).bytes
        lines.append(UInt8(ascii: "\n"))
      }
      return lines
    }
    return nil
  }
}
