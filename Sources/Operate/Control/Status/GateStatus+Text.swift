/// The gate's status as one screen: what is wrong comes first, then the players, what waits for the operator, and refusals.
internal import Bytes
internal import JSON
package import Prompt
internal import System
package import Time

extension GateStatus {
  /// Of each list, so that all of it stays on a screen.
  private static let most = 5

  /// - Parameter window: how wide the terminal is; nil where nothing is to be cut.
  package func lines(now: UnixTime, in window: Int?, _ paint: Paint) -> [String] {
    let screen = Screen(now: now, window: window, paint: paint)
    return standing(paint) + [""] + players(screen) + [""] + waiting(screen) + [""] + lastRefusals(screen)
  }

  private struct Screen {
    let now: UnixTime
    let window: Int?
    let paint: Paint

    func heading(_ text: String) -> String { paint(text, .bold) }

    func lines(of table: consuming TextTable) -> [String] {
      table.take(in: window.map { $0 - 2 }, paint).map { "  " + $0 }
    }

    /// - Parameter list: the command that shows all.
    func more(_ count: Int, _ list: String) -> [String] {
      count > GateStatus.most ? ["  \(Wording.count(count - GateStatus.most)) more: \(list)"] : []
    }
  }

  // MARK: Health

  private func standing(_ paint: Paint) -> [String] {
    let word =
      switch health.status {
      case .ok where isStoreWell: paint("ok", .good)
      case .ok: paint("ok, but the key store is not", .bad)
      case .draining: paint("draining", .doubtful)
      }
    var lines = [
      [
        word, "version \(health.version)",
        "up \(Wording.duration(seconds: Int64(health.uptimeSeconds)))", "process \(health.process)",
      ].joined(separator: "  ")
    ]
    if health.status == .draining {
      lines.append("New players are refused. Players who are in keep playing.")
    }
    if !isStoreWell {
      let reason = store.reason.map { ": \(PrintableText.field($0, limit: 256))" } ?? ""
      lines.append("The key store is \(PrintableText.field(store.service, limit: 64))\(reason)")
    }
    return lines
  }

  private var isStoreWell: Bool { store.service == "accepting" }

  // MARK: Players

  private func players(_ screen: Screen) -> [String] {
    [
      screen.heading("Players"), "  \(Wording.count(attached)) connected",
      "  \(Wording.count(detached)) without a connection, may reconnect",
    ]
  }

  // MARK: What waits

  private func waiting(_ screen: Screen) -> [String] {
    let heading = screen.heading("Waiting for you")
    guard let approvals, let devices else { return [heading, "  nothing: the gate has no devices"] }
    if approvals.isEmpty, devices.isEmpty { return [heading, "  nothing"] }
    return [heading] + requests(approvals, screen) + phones(devices, screen)
  }

  private func requests(_ approvals: [JSONObject], _ screen: Screen) -> [String] {
    guard !approvals.isEmpty else { return [] }
    var table = TextTable([
      .init("APPROVAL"), .init("OPERATION", canBeCut: true), .init("FOR", canBeCut: true),
      .init("REQUESTER", canBeCut: true), .init("ENDS"),
    ])
    for approval in approvals.prefix(Self.most) {
      table.add([
        .init(Self.text(approval["id"])), .init(Self.text(approval["operation"])),
        .init(Self.text(approval["subject"])),
        .init(Self.text(approval["requester_name"] ?? approval["requester"])),
        .init(Self.time(approval["expires_at"], screen), .doubtful),
      ])
    }
    return screen.lines(of: table)
      + screen.more(approvals.count, "portcullis approvals list --state pending")
      + ["  portcullis approvals show ID says what is asked"]
  }

  private func phones(_ devices: [JSONObject], _ screen: Screen) -> [String] {
    guard !devices.isEmpty else { return [] }
    var table = TextTable([
      .init("DEVICE"), .init("NAME", canBeCut: true), .init("SUBJECT", canBeCut: true), .init("PLATFORM"),
      .init("SINCE"),
    ])
    for device in devices.prefix(Self.most) {
      table.add([
        .init(Self.text(device["device_id"])), .init(Self.text(device["device_name"])),
        .init(Self.text(device["subject"])), .init(Self.text(device["platform"])),
        .init(Self.time(device["created_at"], screen)),
      ])
    }
    return screen.lines(of: table)
      + screen.more(devices.count, "portcullis devices list --state pending")
      + ["  portcullis devices confirm ID makes a device active"]
  }

  private static func text(_ value: JSONValue?) -> String {
    value?.string.map { PrintableText.field($0, limit: 128) } ?? "-"
  }

  private static func time(_ value: JSONValue?, _ screen: Screen) -> String {
    guard let seconds = value?.integer, (0...253_402_300_799).contains(seconds) else { return "-" }
    return Wording.relative(UnixTime(milliseconds: seconds * 1000), to: screen.now)
  }

  // MARK: Refusals

  private func lastRefusals(_ screen: Screen) -> [String] {
    let heading = screen.heading("Last refusals")
    guard let refusals else { return [heading, "  unknown: the running gate is older than this command"] }
    guard !refusals.isEmpty else { return [heading, "  none"] }
    var table = TextTable([
      .init("CODE"), .init("STEP", canBeCut: true), .init("COUNT", isNumber: true), .init("LAST"),
    ])
    for refusal in refusals.prefix(Self.most) {
      table.add([
        .init(refusal.code), .init(refusal.step), .init(Wording.count(refusal.count)),
        .init(Wording.relative(refusal.lastAt, to: screen.now)),
      ])
    }
    return screen.lines(of: table) + screen.more(refusals.count, "portcullis status --json")
  }
}
