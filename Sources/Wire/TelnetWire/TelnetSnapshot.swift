/// All that a session's telnet is, between two bytes, for the process that goes on with it.

package struct TelnetSnapshot: Equatable, Sendable {
  package var state: TelnetState
  package var client: ClientDescription?
  package var earlySize: TerminalSize?
  /// The charset in use, by its name.
  package var charset: [UInt8]
  /// The open subnegotiation with its option; empty at any other time, and when nobody wants it.
  package var body: [UInt8] = []
  /// Names that the game asked for by NEW-ENVIRON while nothing was known of the app.
  package var environmentDue: [UInt8]?
  /// What the app itself has said by GMCP and MSDP, and is said again.
  package var hello: [UInt8]?
  package var supports: [UInt8]?
  package var reports: [[UInt8]] = []

  package init(state: TelnetState, client: ClientDescription?, charset: [UInt8]) {
    self.state = state
    self.client = client
    self.charset = charset
  }

  /// Whether an engine can have been so.
  package var isPossible: Bool {
    let isInBody = state.place == .body || state.place == .bodyCommand
    return !state.isCompressed && state.isWithinLimits
      && (body.isEmpty
        || isInBody && body.count == Int(state.bodyBytes)
          && body.count <= TelnetEngine.subnegotiationLimit + 1)
      && (environmentDue?.count ?? 0) <= TelnetEngine.subnegotiationLimit
      && [hello, supports].allSatisfy { words in
        words.map { $0.count <= OwnWords.limit && TelnetEngine.isJSON($0.span) } ?? true
      }
      && reports.reduce(0) { $0 + $1.count } <= OwnWords.limit
  }
}

extension TelnetState {
  /// Whether its numbers are such that an engine comes to.
  package var isWithinLimits: Bool {
    terminalTypeStep <= TelnetEngine.terminalTypes && terminalTypesDue <= TelnetEngine.terminalTypes
      && bodyBytes <= UInt32(TelnetEngine.subnegotiationLimit + 2)
  }
}

extension TelnetEngine {
  /// Nil of a compressed stream, which cannot be taken up again.
  package var snapshot: TelnetSnapshot? {
    if state.isCompressed { return nil }
    var snapshot = TelnetSnapshot(state: state, client: client, charset: charset.name)
    snapshot.earlySize = earlySize
    snapshot.body = body
    snapshot.environmentDue = environmentDue
    snapshot.hello = ownWords.hello
    snapshot.supports = ownWords.supports
    snapshot.reports = ownWords.reports
    return snapshot
  }

  /// Goes on where the one was that `snapshot` was taken of; nil if that cannot have been one. A charset that is not there
  /// any more becomes the one that is set.
  package init?(_ settings: TelnetSettings, restoring snapshot: TelnetSnapshot) {
    guard snapshot.isPossible else { return nil }
    self.init(settings, client: snapshot.client, state: snapshot.state)
    if !charset.isNamed(snapshot.charset), let other = settings.charsetNamed(snapshot.charset) {
      charset = other
    }
    earlySize = snapshot.earlySize
    body = snapshot.body
    environmentDue = snapshot.environmentDue
    ownWords.hello = snapshot.hello
    ownWords.supports = snapshot.supports
    for report in snapshot.reports { ownWords.keep(report: report) }
  }
}

extension TelnetOptionSet {
  /// Nil where a bit stands for no option.
  package init?(bits: UInt16) {
    guard bits >> UInt16(TelnetOption.count) == 0 else { return nil }
    self.init()
    self.bits = bits
  }
}
