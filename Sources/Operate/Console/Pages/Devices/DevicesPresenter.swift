/// What the pages of devices show.
import Admin
import Bytes
import Control
import DeviceWire
import Gateway
import PortcullisProtocol
import Registry
import System

extension ConsolePages {
  func devices(_ request: AdminRequest) throws(ConsoleFailure) -> DevicesPage {
    let query = request.query
    let filter = DevicesPage.Filter(
      text: query["text"] ?? "", subject: query["subject"] ?? "",
      state: query["state"].flatMap { DeviceRow.State(rawValue: $0) })
    let after = query["after"]
    let subject = Subject(filter.subject)
    if !filter.subject.isEmpty, subject == nil {
      let problem = FieldProblem(
        field: "subject", text: "Invalid subject name: write 1 to 128 bytes on one line.")
      return DevicesPage(filter: filter, problems: [problem], rows: [], end: ListEnd(), pairings: [])
    }
    let found = try ask(
      BrowseDevices(
        text: filter.text, subject: subject, state: filter.state?.record,
        after: try after.map { text throws(ConsoleFailure) in try Self.device(text) },
        limit: ListEnd.rowsPerPage), request)
    return DevicesPage(
      filter: filter, rows: found.devices.map { DeviceRow($0) },
      end: ListEnd(next: found.next?.text, isFirst: after == nil),
      pairings: after == nil ? try ask(BrowsePairings(), request).map { PairingRow($0) } : [])
  }

  private static func device(_ text: String) throws(ConsoleFailure) -> DeviceID {
    guard let id = DeviceID(text) else { throw .error(.notFound, "There is no such device.") }
    return id
  }

  struct SeenDevice {
    let row: DeviceRow
    /// The one that waits for its digits.
    let pairing: PairingRow?
    /// Whether it is being paired, at its digits or not.
    let isPairing: Bool
    /// All that is known of it.
    let record: DeviceRecord

    /// It must not become active without digits: its phone has them to show, or had until its time was over.
    func lacksDigits(_ request: AdminRequest) -> Bool {
      row.state == .pending && pairing == nil && (isPairing || request.form["digits"] != nil)
    }
  }

  static let withoutDigits = ControlRefusal(
    .notAllowed, "The pairing is not at its digits, or its time is over. Nothing was confirmed.")

  func lookAtDevice(_ id: String, _ request: AdminRequest) throws(ConsoleFailure) -> SeenDevice {
    let found = try ask(LookAtDevice(id: try Self.device(id)), request)
    return SeenDevice(
      row: DeviceRow(found.device), pairing: found.pairing.map { PairingRow($0) },
      isPairing: found.pairsUntil != nil, record: found.device)
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
    let record = seen.record
    return DevicePage(
      device: seen.row, activatedAt: record.activatedAt?.wholeSecond,
      attestedAt: record.attestedAt?.wholeSecond,
      playAttestedAt: record.playAttestedAt?.wholeSecond,
      attestationFailedAt: record.attestationFailedAt?.wholeSecond,
      revokedAt: record.revokedAt?.wholeSecond, appVersion: record.appVersion, patchLevel: record.patchLevel,
      isRooted: record.isRooted, keyID: record.attestedKey?.base64, replaces: record.replaces?.text,
      exceptionReason: record.exception?.reason, exceptionUntil: record.exception?.until.wholeSecond,
      sessions: try sessions(of: seen.row, keyID: record.attestedKey?.base64, request),
      refusals: try refusals(ofKey: record.attestedKey, device: record.id, request))
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
    let sessions = try sessions(of: seen.row, keyID: seen.record.attestedKey?.base64, request)
    return RevokeDevicePage(device: seen.row, sessions: sessions.count, problems: problems)
  }
}

extension DeviceRow {
  init(_ device: DeviceRecord) {
    self.init(
      id: device.id.text, state: State(device.state), name: device.name?.text, subject: device.subject?.name,
      platform: device.platform.rawValue, level: device.level.rawValue,
      verification: device.verification.rawValue, createdAt: device.createdAt.wholeSecond,
      seenAt: device.seenAt?.wholeSecond)
  }
}

extension DeviceRow.State {
  fileprivate init(_ state: DeviceRecord.State) {
    self =
      switch state {
      case .pending: .pending
      case .active: .active
      case .revoked: .revoked
      }
  }

  fileprivate var record: DeviceRecord.State {
    switch self {
    case .pending: .pending
    case .active: .active
    case .revoked: .revoked
    }
  }
}

extension PairingRow {
  fileprivate init(_ seen: PairingForOperator) {
    self.init(
      id: seen.pairing.id.text, deviceID: seen.device?.id.text, name: seen.device?.name?.text,
      subject: seen.pairing.subject?.name, expiresAt: seen.pairing.expiresAt.wholeSecond,
      triesLeft: seen.triesLeft)
  }
}
