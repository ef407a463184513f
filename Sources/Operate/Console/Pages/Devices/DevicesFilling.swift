/// What the pages of devices show.
import Admin
import Bytes
import Control
import DeviceWire
import Gateway
import JSON
import System

extension ConsolePages {
  func devices(_ request: AdminRequest) throws(ConsoleFailure) -> DevicesPage {
    let query = request.query
    let filter = DevicesPage.Filter(
      text: query["text"] ?? "", subject: query["subject"] ?? "",
      state: query["state"].flatMap { DeviceRow.State(rawValue: $0) })
    let after = query["after"]
    var arguments: [(name: String, value: JSONValue)] = [
      ("limit", .number(JSONNumber(Int64(ListEnd.rowsPerPage))))
    ]
    if !filter.text.isEmpty { arguments.append(("text", .string(filter.text))) }
    if !filter.subject.isEmpty { arguments.append(("subject", .string(filter.subject))) }
    if let state = filter.state { arguments.append(("state", .string(state.rawValue))) }
    if let after { arguments.append(("after", .string(after))) }
    switch order("devices-browse", arguments, request) {
    case .failure(let refusal):
      guard refusal.code == .wrongArguments, after == nil else { throw ConsoleFailure(refusal) }
      let problem = FieldProblem(
        field: "subject", text: "Invalid subject name: write 1 to 128 bytes on one line.")
      return DevicesPage(filter: filter, problems: [problem], rows: [], end: ListEnd(), pairings: [])
    case .success(let found):
      let pairings = after == nil ? try ask("pair-browse", [], request).array ?? [] : []
      return DevicesPage(
        filter: filter, rows: (found.object?["devices"]?.array ?? []).compactMap { DeviceRow($0.object) },
        end: ListEnd(next: found.object?.text("next"), isFirst: after == nil),
        pairings: pairings.compactMap { PairingRow($0.object) })
    }
  }

  struct SeenDevice {
    let row: DeviceRow
    /// The one that waits for its digits.
    let pairing: PairingRow?
    /// Whether it is being paired, at its digits or not.
    let isPairing: Bool
    /// All that is known of it.
    let object: JSONObject

    /// It must not become active without digits: its phone has them to show, or had until its time was over.
    func lacksDigits(_ request: AdminRequest) -> Bool {
      row.state == .pending && pairing == nil && (isPairing || request.form["digits"] != nil)
    }
  }

  static let withoutDigits = ControlRefusal(
    .notAllowed, "The pairing is not at its digits, or its time is over. Nothing was confirmed.")

  func lookAtDevice(_ id: String, _ request: AdminRequest) throws(ConsoleFailure) -> SeenDevice {
    let found = try ask("devices-look", [("id", .string(id))], request)
    guard let object = found.object?["device"]?.object, let row = DeviceRow(object) else {
      throw .error(.notFound, "There is no such device.")
    }
    return SeenDevice(
      row: row, pairing: PairingRow(found.object?["pairing"]?.object),
      isPairing: found.object?["pairs_until"] != nil, object: object)
  }

  private func sessions(
    of device: DeviceRow, keyID: String?, _ request: AdminRequest
  ) throws(ConsoleFailure) -> [SessionRow] {
    try sessions(request) { session in
      session.deviceID?.text == device.id || keyID != nil && session.keyID?.base64 == keyID
    }
  }

  func device(_ id: String, _ request: AdminRequest) throws(ConsoleFailure) -> DevicePage {
    let seen = try lookAtDevice(id, request)
    let (row, object) = (seen.row, seen.object)
    let exception = object["except"]?.object
    return DevicePage(
      device: row, activatedAt: object.time("activated_at"), attestedAt: object.time("attested_at"),
      playAttestedAt: object.time("play_attested_at"),
      attestationFailedAt: object.time("attestation_failed_at"), revokedAt: object.time("revoked_at"),
      appVersion: object.text("app_version"), patchLevel: object.text("os_patch_level"),
      isRooted: object["rooted"]?.boolean == true, keyID: object.text("key_id"),
      replaces: object.text("replaces"), exceptionReason: exception?.text("reason"),
      exceptionUntil: exception?.time("until"),
      sessions: try sessions(of: row, keyID: object.text("key_id"), request))
  }

  func confirmPage(
    _ id: String, _ request: AdminRequest, _ problems: [FieldProblem] = []
  ) throws(ConsoleFailure) -> ConfirmDevicePage {
    let seen = try lookAtDevice(id, request)
    if seen.lacksDigits(request) { throw ConsoleFailure(Self.withoutDigits) }
    let subject = request.form["subject"] ?? seen.pairing?.subject ?? seen.row.subject ?? ""
    return ConfirmDevicePage(device: seen.row, pairing: seen.pairing, subject: subject, problems: problems)
  }

  func revokePage(
    _ id: String, _ request: AdminRequest, _ problems: [FieldProblem] = []
  ) throws(ConsoleFailure) -> RevokeDevicePage {
    let seen = try lookAtDevice(id, request)
    let sessions = try sessions(of: seen.row, keyID: seen.object.text("key_id"), request)
    return RevokeDevicePage(device: seen.row, sessions: sessions.count, problems: problems)
  }
}

extension DeviceRow {
  fileprivate init?(_ object: JSONObject?) {
    guard let object, let id = object.text("device_id"),
      let state = object.text("status").flatMap({ State(rawValue: $0) }),
      let createdAt = object.time("created_at")
    else { return nil }
    self.init(
      id: id, state: state, name: object.text("device_name"), subject: object.text("subject"),
      platform: object.text("platform") ?? "", level: object.text("level") ?? "",
      verification: object.text("uv") ?? "", createdAt: createdAt, seenAt: object.time("seen_at"))
  }
}

extension PairingRow {
  fileprivate init?(_ object: JSONObject?) {
    guard let object, let id = object.text("pairing_id"), let expiresAt = object.time("expires_at") else {
      return nil
    }
    self.init(
      id: id, deviceID: object.text("device_id"), name: object.text("device_name"),
      subject: object.text("subject"), expiresAt: expiresAt, triesLeft: object.count("tries_left"))
  }
}
