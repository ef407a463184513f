/// What the pages of sessions show. A listing asks all loops; names of devices are the registry's.
import Addresses
import Admin
import Bytes
import Control
import DeviceWire
import Gateway
import Identity
import JSON
import Registry
import System

extension ConsolePages {
  func sessions(_ request: AdminRequest) throws(ConsoleFailure) -> SessionsPage {
    let query = request.query
    let filter = SessionsPage.Filter(
      text: query["text"] ?? "", state: query["state"].flatMap { SessionRow.State(rawValue: $0) },
      credential: query["credential"].flatMap { SessionRow.Credential(rawValue: $0) })
    var found = try allSessions().filter { session in
      (filter.state == nil || session.state.rawValue == filter.state?.rawValue)
        && (filter.credential == nil || session.credential == filter.credential?.rawValue)
    }
    if !filter.text.isEmpty {
      let names = try deviceNames(of: found, request)
      found = found.filter { isMeant($0, by: filter.text, names) }
    }
    let after = query["after"].flatMap { UInt64($0) }
    // Numbers are given in order: the longest first.
    let rest = found.filter { session in after.map { session.number > $0 } ?? true }
    let shown = Array(rest.prefix(ListEnd.rowsPerPage))
    let next = rest.count > shown.count ? shown.last.map { "\($0.number)" } : nil
    return SessionsPage(
      filter: filter, rows: try rows(shown, request),
      end: ListEnd(next: next, isFirst: after == nil, total: found.count),
      mayEnd: request.actor.scopes.contains(.write))
  }

  func session(_ number: UInt64, _ request: AdminRequest) throws(ConsoleFailure) -> SessionRow {
    let found = try allSessions().filter { $0.number == number }
    guard let row = try rows(found, request).first else {
      throw .error(.notFound, "There is no session \(number): it may have ended.")
    }
    return row
  }

  /// Of a key or of a device.
  func sessions(
    _ request: AdminRequest, where isMeant: (SessionDescription) -> Bool
  ) throws(ConsoleFailure) -> [SessionRow] {
    try rows(Array(try allSessions().filter(isMeant).prefix(ListEnd.rowsPerPage)), request)
  }

  /// By their keys, pseudonyms, devices, owners and addresses.
  func sessions(called text: String, _ request: AdminRequest) throws(ConsoleFailure) -> [SessionRow] {
    let all = try allSessions()
    let names = try deviceNames(of: all, request)
    let devices = Set(try self.devices(called: text, request).map(\.id.text))
    return try rows(
      Array(
        all.filter { session in
          isMeant(session, by: text, names)
            || names.device(of: session).map { devices.contains($0.id) } == true
        }.prefix(ListEnd.rowsPerPage)), request)
  }

  private func allSessions() throws(ConsoleFailure) -> [SessionDescription] {
    guard let sessions = gate.sessions() else {
      throw .error(.unavailable, "An event loop did not answer in time.")
    }
    return sessions.sorted { $0.number < $1.number }
  }

  // MARK: Names

  /// By id, and by the App Attest key that vouches for the device.
  struct DeviceNames {
    var byID: [String: (id: String, name: String?)] = [:]
    var byKey: [String: (id: String, name: String?)] = [:]

    func device(of session: SessionDescription) -> (id: String, name: String?)? {
      if let id = session.deviceID?.text { return byID[id] ?? (id, nil) }
      return session.keyID.flatMap { byKey[$0.base64] }
    }
  }

  func deviceNames(
    of sessions: [SessionDescription], _ request: AdminRequest
  ) throws(ConsoleFailure) -> DeviceNames {
    var names = DeviceNames()
    guard sources.hasDevices else { return names }
    let named = sessions.filter { $0.deviceID != nil || $0.keyID != nil }
    for start in stride(from: 0, to: named.count, by: Self.namesAtOnce) {
      let piece = named[start..<min(start + Self.namesAtOnce, named.count)]
      let call = NameDevices(
        ids: piece.compactMap(\.deviceID), keys: piece.compactMap { $0.deviceID == nil ? $0.keyID : nil })
      for found in try ask(call, request) {
        let known = (id: found.device.id.text, name: found.device.name?.text)
        names.byID[known.id] = known
        if let key = found.device.attestedKey { names.byKey[key.base64] = known }
      }
    }
    return names
  }

  private static let namesAtOnce = NameDevices.most

  private func pseudonym(of session: SessionDescription) -> DevicePseudonym? {
    guard let key = sources.pseudonyms else { return nil }
    if let device = session.deviceID { return key.pseudonym(ofDevice: device.bytes) }
    return session.keyID.map { key.pseudonym(ofKey: $0) }
  }

  private func isMeant(_ session: SessionDescription, by text: String, _ names: DeviceNames) -> Bool {
    let lowercase = text.lowercased()
    func isPart(of field: String?) -> Bool { field?.lowercased().contains(lowercase) == true }
    if let pseudonym = DevicePseudonym(text), self.pseudonym(of: session) == pseudonym { return true }
    let device = names.device(of: session)
    // A key is found as a link, a log line or a person writes it.
    let standard = text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
    return session.keyID?.base64.contains(String(standard)) == true || isPart(of: device?.name)
      || isPart(of: device?.id) || isPart(of: session.peer.peerDescription) || isPart(of: session.subject)
      || session.name?.utf8.elementsEqual(text.utf8) == true
  }

  // MARK: Rows

  private func rows(
    _ sessions: [SessionDescription], _ request: AdminRequest
  ) throws(ConsoleFailure) -> [SessionRow] {
    let names = try deviceNames(of: sessions, request)
    let now = now
    return sessions.map { session in
      let device = names.device(of: session)
      return SessionRow(
        number: Int(clamping: session.number), state: session.state == .attached ? .attached : .detached,
        stateSince: now - session.since, beganAt: now - session.duration,
        credential: SessionRow.Credential(rawValue: session.credential) ?? .none,
        keyID: session.keyID?.base64, pseudonym: pseudonym(of: session)?.description, deviceID: device?.id,
        deviceName: device?.name, subject: session.subject, source: session.peer.peerDescription,
        connection: session.name, subprotocol: session.subprotocol, isKept: session.isKept,
        bufferedBytes: session.bufferedBytes, bytesFromPlayer: session.bytesFromPlayer,
        bytesFromGame: session.bytesFromGame)
    }
  }
}
