/// What is shown of refusals: the last thousand out of memory, those of one key, device or address among them, and which of
/// their keys and devices there are.
import Addresses
import Admin
import Bytes
import DeviceWire
import Gateway
import Identity
import KeyStore
import PortcullisProtocol
import Registry
import Time
internal import Telemetry

extension ConsolePages {
  /// So many of one key, device or person are shown beside what else is known of it.
  static let lastRefusals = 10

  func refusals(_ request: AdminRequest) throws(ConsoleFailure) -> RefusalsPage {
    let query = request.query
    let filter = RefusalsPage.Filter(
      code: query["code"].flatMap { RefusalCode(rawValue: $0) }, step: query["step"] ?? "",
      text: query["text"] ?? "")
    let all = gate.latestRefusals
    let search = filter.text.isEmpty ? nil : try refusalSearch(filter.text, request)
    let found = all.filter { entry in
      (filter.code == nil || entry.code == filter.code)
        && (filter.step.isEmpty || entry.step.utf8.elementsEqual(filter.step.utf8))
        && search?.isMeant(entry) != false
    }
    let after = query["after"].flatMap { Int($0) }
    let rest = found.drop { entry in after.map { entry.number >= $0 } ?? false }
    let shown = Array(rest.prefix(ListEnd.rowsPerPage))
    let next = rest.count > shown.count ? shown.last.map { "\($0.number)" } : nil
    return RefusalsPage(
      filter: filter, groups: Self.groups(all), rows: try rows(shown, request),
      end: ListEnd(next: next, isFirst: after == nil, total: found.count))
  }

  /// Of whatever the text may mean: a key, a pseudonym, a device, its owner, or an address.
  func refusals(of text: String, _ request: AdminRequest) throws(ConsoleFailure) -> [RefusalRow] {
    let search = try refusalSearch(text, request)
    return try rows(
      Array(gate.latestRefusals.filter(search.isMeant).prefix(Self.lastRefusals)), request)
  }

  func refusals(
    ofKey key: KeyIdentifier?, device: DeviceID?, _ request: AdminRequest
  ) throws(ConsoleFailure) -> [RefusalRow] {
    let meant = gate.latestRefusals.filter { entry in
      key != nil && entry.keyID == key || device != nil && entry.deviceID == device
    }
    return try rows(Array(meant.prefix(Self.lastRefusals)), request)
  }

  private func refusalSearch(_ text: String, _ request: AdminRequest) throws(ConsoleFailure) -> RefusalSearch
  {
    RefusalSearch(text, devices: try devices(called: text, request), pseudonyms: sources.pseudonyms)
  }

  private func rows(
    _ entries: [RefusalEntry], _ request: AdminRequest
  ) throws(ConsoleFailure) -> [RefusalRow] {
    let known = sources.store.records(of: Set(entries.compactMap(\.keyID)))
    var names: [DeviceID: String?] = [:]
    let ids = Array(Set(entries.compactMap(\.deviceID)))
    if sources.hasDevices, !ids.isEmpty {
      for found in try ask(NameDevices(ids: ids, keys: []), request) {
        names[found.device.id] = .some(found.device.name?.text)
      }
    }
    return entries.map { entry in
      RefusalRow(
        at: entry.at, code: entry.code, step: entry.step, source: entry.source.peerDescription,
        path: entry.asked ?? entry.trace.map { "trace \($0)" }, keyID: entry.keyID?.base64,
        isKeyKnown: entry.keyID.map { known[$0] != nil } ?? false, deviceID: entry.deviceID?.text,
        isDeviceKnown: entry.deviceID.map { names[$0] != nil } ?? false,
        deviceName: entry.deviceID.flatMap { names[$0] ?? nil }, connection: entry.connection)
    }
  }

  private static func groups(_ entries: [RefusalEntry]) -> [RefusalGroup] {
    struct Kind: Hashable {
      let code: RefusalCode
      let step: String
    }
    var groups: [Kind: RefusalGroup] = [:]
    // The latest first.
    for entry in entries {
      let kind = Kind(code: entry.code, step: entry.step)
      if groups[kind] == nil {
        groups[kind] = RefusalGroup(code: entry.code, step: entry.step, count: 0, lastAt: entry.at)
      }
      groups[kind]?.count += 1
    }
    return groups.values.sorted { one, other in
      one.count != other.count ? one.count > other.count : one.lastAt > other.lastAt
    }
  }
}

/// Which refusals are those of a key, a pseudonym, a device or an address.
private struct RefusalSearch {
  /// So many characters of a key's beginning are no accident.
  private static let shortestBeginning = 4

  private let text: String
  private let beginning: String
  private let pseudonym: DevicePseudonym?
  private let pseudonyms: PseudonymKey?
  private let devices: Set<DeviceID>
  private let keys: Set<KeyIdentifier>

  init(_ text: String, devices: [DeviceRecord], pseudonyms: PseudonymKey?) {
    self.text = text.lowercased()
    beginning = String(text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
    pseudonym = pseudonyms == nil ? nil : DevicePseudonym(text)
    self.pseudonyms = pseudonyms
    self.devices = Set(devices.map(\.id))
    keys = Set(devices.compactMap(\.attestedKey))
  }

  func isMeant(_ entry: RefusalEntry) -> Bool {
    if entry.source.peerDescription.lowercased().contains(text) || entry.connection == text { return true }
    if let key = entry.keyID, isMeant(key) { return true }
    guard let device = entry.deviceID else { return false }
    return devices.contains(device) || device.text == text
      || pseudonym.map { pseudonyms?.pseudonym(ofDevice: device.bytes) == $0 } == true
  }

  private func isMeant(_ key: KeyIdentifier) -> Bool {
    keys.contains(key)
      || beginning.utf8.count >= Self.shortestBeginning && key.base64.hasPrefix(beginning)
      || pseudonym.map { pseudonyms?.pseudonym(ofKey: key) == $0 } == true
  }
}
