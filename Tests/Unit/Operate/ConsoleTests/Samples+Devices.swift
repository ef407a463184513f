/// Invented devices, approvals, and what stands in the other rooms.
@testable import Console
import PortcullisProtocol
import System
import Time

// MARK: Devices and approvals

extension Samples {
  func device(_ index: Int) -> DeviceRow {
    DeviceRow(
      id: identifier(index), state: DeviceRow.State.allCases[index % 3], name: known("Anna's iPhone", index),
      subject: known("anna", index), platform: word("ios"), level: word("app_attested"),
      verification: word("app"), createdAt: Self.ago(500_000 + index),
      seenAt: index % 4 == 3 ? nil : Self.ago(index * 60))
  }

  func pairing(_ index: Int) -> PairingRow {
    PairingRow(
      id: identifier(90 + index), deviceID: identifier(index), name: known("Pixel 9", index),
      subject: known("ben", index), expiresAt: Self.ago(-200), triesLeft: 3)
  }

  var waiting: Waiting {
    Waiting(
      requests: (0..<min(rows, 3)).map { index in
        Waiting.Request(
          id: identifier(index), operation: word("shutdown"), text: known("The game restarts.", index),
          endsAt: Self.ago(-200 - index))
      },
      phones: (0..<min(rows, 2)).map { index in
        Waiting.Phone(
          deviceID: known(identifier(index), index), name: known("Pixel 9", index + 2),
          subject: known("ben", index), endsAt: Self.ago(-100 - index))
      })
  }

  func pairing(_ stage: PairingPage.Stage) -> PairingPage {
    let hasPhone = stage != .open && rows > 0
    return PairingPage(
      id: identifier(70), stage: stage,
      uri: stage == .open
        ? "PORTCULLIS:/1/AAAAAAAAAAAAAAAAAA/BBBBBBBBBBBBBBBB/CCCCCCCC/GATE.EXAMPLE:443" : nil,
      subject: rows == 0 ? nil : word("anna"), deviceID: hasPhone ? identifier(3) : nil,
      deviceName: hasPhone ? word("Anna's iPhone") : nil, level: hasPhone ? word("app_attested") : nil,
      platform: hasPhone ? word("ios") : nil, expiresAt: Self.ago(-250), triesLeft: 3,
      problems: hasPhone && stage != .revealed ? [] : problems("digits"))
  }

  var search: SearchPage {
    SearchPage(
      text: word("anna"), sessions: (0..<min(rows, 5)).map(session),
      refusals: (0..<min(rows, 10)).map(refusal), devices: (0..<min(rows, 5)).map(device),
      keys: (0..<min(rows, 5)).map(key), hasDevices: true)
  }

  var devices: DevicesPage {
    DevicesPage(
      filter: .init(text: word(""), subject: hasProblems ? word("a b") : ""), problems: problems("subject"),
      rows: (0..<rows).map(device), end: ListEnd(next: rows == 0 ? nil : identifier(99), total: rows),
      pairings: (0..<min(rows, 2)).map(pairing))
  }

  var devicePage: DevicePage {
    let isFull = rows > 0
    return DevicePage(
      device: device(isFull ? 1 : 0), activatedAt: isFull ? Self.ago(400_000) : nil,
      attestedAt: isFull ? Self.ago(3000) : nil, appVersion: isFull ? word("1.4.2") : nil,
      patchLevel: isFull ? word("2026-11") : nil, isRooted: isFull, keyID: isFull ? keyID(1) : nil,
      replaces: isFull ? identifier(7) : nil, exceptionReason: isFull ? word("waits for a new phone") : nil,
      exceptionUntil: isFull ? Self.ago(-86_400) : nil, sessions: (0..<min(rows, 2)).map(session))
  }

  var confirmDevice: ConfirmDevicePage {
    ConfirmDevicePage(
      device: device(0), pairing: pairing(0), subject: word("anna"), problems: problems("digits"))
  }

  func approvalRow(_ index: Int, _ state: ApprovalRow.State) -> ApprovalRow {
    ApprovalRow(
      id: identifier(index), state: state, operation: word("deploy"), service: word("ci"),
      requester: word("build-7781"), subject: known("anna", index), createdAt: Self.ago(40 + index * 900),
      expiresAt: Self.ago(-260 + index), decidedAt: state == .pending ? nil : Self.ago(index * 900),
      approvals: index % 2, quorum: 2,
      text: known("Deploy release 0.9.2 of the game to production.", index),
      needsOperator: state == .pending && index % 2 == 0)
  }

  var approvals: ApprovalsPage {
    ApprovalsPage(
      pending: (0..<min(rows, 3)).map { approvalRow($0, .pending) },
      decided: (0..<rows).map { approvalRow($0, ApprovalRow.State.allCases[1 + $0 % 5]) },
      end: ListEnd(next: rows == 0 ? nil : word("77")))
  }

  func approval(_ own: ApprovalPage.OwnWord) -> ApprovalPage {
    let isFull = rows > 0
    return ApprovalPage(
      approval: approvalRow(0, own == .isOver ? .approved : .pending),
      text: word("Deploy release 0.9.2 of the game to production.\nChanges: 14 commits."),
      target: isFull ? [(name: word("host"), value: word("mud.example.com"))] : [],
      requesterName: isFull ? word("Anna Example") : nil,
      requesterAddress: isFull ? word("203.0.113.9") : nil,
      level: word("app_attested"), verification: word("hardware"), factors: [word("operator")],
      reason: hasProblems ? word("no_device") : nil,
      votes: VoteRow.Decision.allCases.prefix(rows).enumerated().map {
        VoteRow(
          deviceID: identifier($0.offset), deviceName: known("Anna's iPhone", $0.offset + 2),
          decision: $0.element, at: Self.ago(20), level: word("app_attested"), verification: word("app"))
      }, operatorName: own == .isOver ? word("bob") : nil,
      lease: own == .isOver ? LeaseRow(expiresAt: Self.ago(-600), usesLeft: 1) : nil, ownWord: own,
      problems: problems("approval"))
  }
}

// MARK: The rest

extension Samples {
  func refusal(_ index: Int) -> RefusalRow {
    let codes = RefusalCode.allCases
    return RefusalRow(
      at: Self.ago(index * 7), code: codes[index % codes.count], step: known("signature", index),
      source: word("203.0.113.\(index)"), path: known("/attest/register", index),
      keyID: known("Lt/yHt3M", index), isKeyKnown: index % 2 == 0, deviceID: known(identifier(1), index + 1),
      isDeviceKnown: index % 3 == 0, deviceName: index % 3 == 0 ? known("Anna's iPhone", index) : nil,
      connection: known("1-80000000", index))
  }

  var refusals: RefusalsPage {
    let codes = RefusalCode.allCases
    return RefusalsPage(
      filter: .init(code: hasProblems ? .attestationRejected : nil, step: hasProblems ? word("aaguid") : ""),
      groups: codes.prefix(rows).enumerated().map {
        RefusalGroup(
          code: $0.element, step: known("signature", $0.offset), count: 900 - $0.offset,
          lastAt: Self.ago($0.offset))
      },
      rows: (0..<rows).map(refusal), end: ListEnd(next: rows == 0 ? nil : word("950"), total: rows * 20))
  }

  var audit: AuditPage {
    AuditPage(
      filter: .init(event: "", about: rows == 0 ? "" : word("anna"), day: hasProblems ? word("today") : ""),
      problems: problems("day"), events: [word("device_confirmed")],
      rows: (0..<rows).map {
        AuditLine(
          sequence: 9000 - $0, at: Self.ago($0 * 60), event: word("device_confirmed"),
          actor: known("alice", $0),
          members: [("device_id", identifier($0)), (word("subject"), word("anna"))])
      }, end: ListEnd(next: rows == 0 ? nil : "8950", total: rows * 180),
      verification: rows == 0
        ? .notAsked
        : hasProblems ? .broken(sequence: 17, reason: word("its hash differs")) : .holds(rows: 9000))
  }

  var configuration: ConfigurationPage {
    let names = ["TLS_CERT_PATH", "BACKEND", "MAX_CONNECTIONS", "APPATTEST_APP_IDS", "LOG_FORMAT"]
    return ConfigurationPage(
      settings: (0..<rows).map {
        .init(
          name: names[$0 % names.count], value: known("/etc/portcullis/tls/fullchain.pem", $0),
          isHidden: $0 % 8 == 3,
          origin: ConfigurationPage.Setting.Origin.allCases[$0 % 3], line: $0 % 3 == 1 ? $0 : nil,
          isReloadable: $0 % 2 == 0, note: known("10000 needs more descriptors", $0 + 2))
      }, file: rows == 0 ? nil : word("/etc/portcullis.env"),
      findings: rows == 0
        ? nil
        : [
          .init(standing: .good, subject: word("clock"), text: word("in step")),
          .init(
            standing: hasProblems ? .bad : .doubtful, subject: word("certificate"),
            text: word("ends in 12 days: renew it")),
        ], checkedAt: rows == 0 ? nil : Self.ago(4), readAt: Self.ago(42_000),
      lastReload: rows == 0
        ? nil
        : hasProblems
          ? .refused(problems: [word("BACKEND=x (file:3) is no address: write host:port")])
          : .needsRestart(changed: [word("LOG_LEVEL")], waiting: [word("LISTEN")]),
      lastReloadAt: rows == 0 ? nil : Self.ago(60), problems: problems("x"))
  }

  func drain(_ isDraining: Bool) -> DrainPage {
    DrainPage(
      isDraining: isDraining, isFinal: false, attached: rows * 9, detached: rows / 4, kept: rows,
      problems: problems("x"))
  }
}
