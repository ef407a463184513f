/// The paths of the console, a row each: what is shown there, and what a form that is sent there changes.
import Control
import Admin
import Registry

struct ConsoleRow: Sendable {
  typealias Look = @Sendable (ConsolePages, Argument, AdminRequest) throws(ConsoleFailure) -> AdminAnswer

  /// What stands in the place of `#` or `*`.
  struct Argument {
    var number: UInt64 = 0
    var name = ""
  }

  private let segments: [String]
  /// Out of memory, on the fast thread.
  let isAtOnce: Bool
  /// Shown in a gate with devices alone.
  let needsDevices: Bool
  let look: Look
  /// Nil where nothing can be changed.
  let change: Look?

  /// - Parameter path: of words, `#` for a number in its one spelling, `*` for a name as `ConsolePath` writes it.
  private init(
    _ path: String, isAtOnce: Bool = false, needsDevices: Bool = false, look: @escaping Look,
    change: Look? = nil
  ) {
    segments = Self.segments(path)
    self.isAtOnce = isAtOnce
    self.needsDevices = needsDevices
    self.look = look
    self.change = change
  }

  /// The first that fits counts.
  private static let all: [ConsoleRow] = [
    ConsoleRow("/", isAtOnce: true, look: { pages, _, request in pages.show(pages.overview, request) }),
    ConsoleRow(
      "/hours", isAtOnce: true,
      look: { pages, _, request in pages.show(HoursPage(history: pages.overview.history), request) }),

    ConsoleRow(
      "/sessions",
      look: { (pages, _, request) throws(ConsoleFailure) in
        pages.show(try pages.sessions(request), request)
      }),
    ConsoleRow(
      "/sessions/#",
      look: { (pages, argument, request) throws(ConsoleFailure) in
        pages.show(SessionPage(session: try pages.session(argument.number, request)), request)
      }),
    ConsoleRow(
      "/sessions/#/end",
      look: { (pages, argument, request) throws(ConsoleFailure) in
        pages.show(EndSessionPage(session: try pages.session(argument.number, request)), request)
      },
      change: { (pages, argument, request) throws(ConsoleFailure) in
        try pages.endSession(argument.number, request)
      }),

    ConsoleRow(
      "/keys",
      look: { (pages, _, request) throws(ConsoleFailure) in
        pages.show(try pages.keys(request.query), request)
      }),
    ConsoleRow("/keys/export", look: { pages, _, _ in pages.exportKeys() }),
    ConsoleRow(
      "/keys/*",
      look: { (pages, argument, request) throws(ConsoleFailure) in
        pages.show(try pages.key(argument.name, request), request)
      }),
    ConsoleRow(
      "/keys/*/revoke",
      look: { (pages, argument, request) throws(ConsoleFailure) in
        pages.show(try pages.revokeKeyPage(argument.name, reason: "", request), request)
      },
      change: { (pages, argument, request) throws(ConsoleFailure) in
        try pages.revokeKey(argument.name, request)
      }),

    ConsoleRow(
      "/devices", needsDevices: true,
      look: { (pages, _, request) throws(ConsoleFailure) in
        pages.show(try pages.devices(request), request)
      }),
    ConsoleRow(
      "/devices/pair", needsDevices: true, look: { pages, _, request in pages.show(PairPage(), request) },
      change: { (pages, _, request) throws(ConsoleFailure) in try pages.openPairing(request) }),
    ConsoleRow(
      "/devices/pair/*", needsDevices: true, look: pairing,
      change: { (pages, argument, request) throws(ConsoleFailure) in
        try pages.confirmPairing(argument.name, request)
      }),
    ConsoleRow(
      "/devices/pair/*/end", needsDevices: true, look: pairing,
      change: { (pages, argument, request) throws(ConsoleFailure) in
        try pages.endPairing(argument.name, request)
      }),
    ConsoleRow(
      "/devices/*", needsDevices: true,
      look: { (pages, argument, request) throws(ConsoleFailure) in
        pages.show(try pages.device(argument.name, request), request)
      }),
    ConsoleRow(
      "/devices/*/confirm", needsDevices: true,
      look: { (pages, argument, request) throws(ConsoleFailure) in
        pages.show(try pages.confirmPage(argument.name, request), request)
      },
      change: { (pages, argument, request) throws(ConsoleFailure) in
        try pages.confirmDevice(argument.name, request)
      }),
    ConsoleRow(
      "/devices/*/revoke", needsDevices: true,
      look: { (pages, argument, request) throws(ConsoleFailure) in
        pages.show(try pages.revokePage(argument.name, request), request)
      },
      change: { (pages, argument, request) throws(ConsoleFailure) in
        try pages.revokeDevice(argument.name, request)
      }),

    ConsoleRow(
      "/approvals", needsDevices: true,
      look: { (pages, _, request) throws(ConsoleFailure) in
        pages.show(try pages.approvals(request), request)
      }),
    ConsoleRow("/approvals/*", needsDevices: true, look: approval),
    ConsoleRow(
      "/approvals/*/confirm", needsDevices: true, look: approval,
      change: { (pages, argument, request) throws(ConsoleFailure) in
        try pages.decide(argument.name, .approvalsApprove, .approvalConfirmed, request)
      }),
    ConsoleRow(
      "/approvals/*/refuse", needsDevices: true, look: approval,
      change: { (pages, argument, request) throws(ConsoleFailure) in
        try pages.decide(argument.name, .approvalsDeny, .approvalRefused, request)
      }),

    ConsoleRow(
      "/refusals",
      look: { (pages, _, request) throws(ConsoleFailure) in
        pages.show(try pages.refusals(request), request)
      }),
    ConsoleRow(
      "/search",
      look: { (pages, _, request) throws(ConsoleFailure) in pages.show(try pages.search(request), request) }),

    ConsoleRow(
      "/audit", needsDevices: true,
      look: { (pages, _, request) throws(ConsoleFailure) in pages.show(try pages.audit(request), request) }),
    ConsoleRow(
      "/audit/export", needsDevices: true, look: { pages, _, request in pages.exportAudit(request) }),

    ConsoleRow("/configuration", look: configuration),
    ConsoleRow(
      "/configuration/reload", look: configuration,
      change: { (pages, _, request) throws(ConsoleFailure) in try pages.reload(request) }),

    ConsoleRow(
      "/drain", isAtOnce: true, look: drain,
      change: { (pages, _, request) throws(ConsoleFailure) in
        try pages.drain(.drain, .drainBegun, request)
      }),
    ConsoleRow(
      "/undrain", look: drain,
      change: { (pages, _, request) throws(ConsoleFailure) in
        try pages.drain(.undrain, .drainEnded, request)
      }),
    ConsoleRow(
      "/drain/end",
      look: { pages, _, request in pages.show(EndAllPage(sessions: pages.staying), request) },
      change: { (pages, _, request) throws(ConsoleFailure) in try pages.endAll(request) }),
  ]

  private static let pairing: Look = { (pages, argument, request) throws(ConsoleFailure) in
    pages.show(try pages.pairing(argument.name, request), request)
  }
  private static let approval: Look = { (pages, argument, request) throws(ConsoleFailure) in
    pages.show(try pages.approval(argument.name, request), request)
  }
  private static let configuration: Look = { pages, _, request in
    pages.show(pages.configuration(), request)
  }
  private static let drain: Look = { pages, _, request in pages.show(pages.drainPage(), request) }

  // MARK: Finding

  /// Whether programs ask, and the script: the same places below `/api`.
  static func isJSON(_ path: String) -> Bool { path.hasPrefix("/api/") }

  /// - Parameter path: as on the wire; nothing in it is decoded.
  static func find(_ path: String) -> (row: ConsoleRow, argument: Argument)? {
    var parts = segments(path)
    if isJSON(path) {
      parts.removeFirst()
      if parts == [""] { return nil }
      if parts == ["overview"] { parts = [""] }
    }
    for row in all {
      if let argument = row.fits(parts) { return (row, argument) }
    }
    return nil
  }

  private static func segments(_ path: String) -> [String] {
    path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
  }

  private func fits(_ parts: [String]) -> Argument? {
    guard parts.count == segments.count else { return nil }
    var argument = Argument()
    for (segment, part) in zip(segments, parts) {
      switch segment {
      case "#":
        guard let number = UInt64(part), "\(number)" == part else { return nil }
        argument.number = number
      case "*": argument.name = part
      default: if segment != part { return nil }
      }
    }
    return argument
  }
}
