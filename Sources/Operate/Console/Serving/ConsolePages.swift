/// The operator's pages for the running gate (docs/console.md, "Console"): each request to what it is about, out of memory
/// at once or on the slow thread.
///
/// What the key store's lock is taken for goes to the store as an order. Each page's model is filled in a file of its own.
import Admin
package import Assembly
import Confinement
package import Control
package import Gateway
package import Identity
package import KeyStore
package import Logging
import Prompt
import System
import Time

package final class ConsolePages: Sendable {
  /// What pages are made of.
  package struct Sources: Sendable {
    var gate: Gate
    var control: GateControl
    var store: any KeyBrowsing
    /// Nil where the game is told of nobody.
    var pseudonyms: PseudonymKey?
    var settings: SettingsInForce
    var hasDevices: Bool
    var log: Logger
    /// The host's name.
    var name: String

    package init(
      gate: Gate, control: GateControl, store: any KeyBrowsing, pseudonyms: PseudonymKey?,
      settings: SettingsInForce, hasDevices: Bool, log: Logger, name: String
    ) {
      (self.gate, self.control, self.store, self.pseudonyms) = (gate, control, store, pseudonyms)
      (self.settings, self.hasDevices, self.log, self.name) = (settings, hasDevices, log, name)
    }
  }

  let sources: Sources
  let checks: GateChecks
  let findings: ConfigurationFindings
  /// Nil where nobody may sign in.
  let operators: AdminOperators?

  init(
    _ sources: Sources, checks: GateChecks, kernel: KernelFeatures, operators: AdminOperators? = nil
  ) {
    self.operators = operators
    self.sources = sources
    self.checks = checks
    findings = ConfigurationFindings(sources.settings, kernel)
  }

  var gate: Gate { sources.gate }
  var now: UnixTime { SystemClock().wall() }
  var waiting: Waiting { checks.waiting?.current(at: now) ?? Waiting() }

  // MARK: Requests

  static func asset(_ path: String) -> AdminAnswer? {
    ConsoleAsset(rawValue: path).map { .asset(contentType: $0.contentType, $0.bytes) }
  }

  /// Called on the fast thread: waits for nothing.
  func answerAtOnce(_ request: AdminRequest) -> AdminAnswer? {
    if request.isChange { return nil }
    guard let (row, argument) = ConsoleRow.find(request.path) else { return lacking(request) }
    return row.isAtOnce ? look(row, argument, request) : nil
  }

  /// Called on the slow thread, one request at a time.
  func work(_ request: AdminRequest) -> AdminAnswer {
    guard let (row, argument) = ConsoleRow.find(request.path) else { return lacking(request) }
    if !request.isChange { return look(row, argument, request) }
    do throws(ConsoleFailure) {
      guard request.actor.scopes.contains(.write) else { throw .error(.forbidden) }
      guard let change = row.change else { throw .error(.notFound) }
      return try change(self, argument, request)
    } catch {
      return fail(error, request)
    }
  }

  private func look(
    _ row: ConsoleRow, _ argument: ConsoleRow.Argument, _ request: AdminRequest
  ) -> AdminAnswer {
    do throws(ConsoleFailure) {
      if row.needsDevices, !sources.hasDevices { throw .error(.notFound, Self.withoutDevices) }
      return try row.look(self, argument, request)
    } catch {
      return fail(error, request)
    }
  }

  static let withoutDevices =
    "This gate has no devices: set DEVICES_PATH and PUBLIC_URL, and restart it."

  // MARK: Answers

  func show(_ page: some ConsolePage, _ request: AdminRequest, _ status: AdminStatus = .ok)
    -> AdminAnswer
  {
    if ConsoleRow.isJSON(request.path) { return .json(status, page.json(waiting)) }
    return .page(status, page.html(frame(request)))
  }

  func lacking(_ request: AdminRequest) -> AdminAnswer { fail(.error(.notFound), request) }

  func fail(_ failure: ConsoleFailure, _ request: AdminRequest) -> AdminAnswer {
    switch failure {
    case .error(let kind, let detail):
      show(
        ErrorPage(kind: kind, detail: detail), request, AdminStatus(rawValue: kind.rawValue) ?? .badRequest)
    case .perhaps(let detail):
      show(ErrorPage(kind: .unavailable, detail: detail, isPerhapsDone: true), request, .unavailable)
    case .answer(let answer): answer
    }
  }

  func frame(_ request: AdminRequest) -> PageFrame {
    PageFrame(
      gate: sources.name, version: Version.text, actor: request.actor.name, formToken: request.formToken,
      mayChange: request.actor.scopes.contains(.write), hasDevices: sources.hasDevices,
      isDraining: gate.isDraining, waiting: waiting, search: request.query["find"] ?? "", now: now,
      done: request.query["done"].flatMap { DoneWord(rawValue: $0) })
  }
}

/// Why there is no page, or no change.
enum ConsoleFailure: Error {
  case error(ErrorPage.Kind, String? = nil)
  /// A change that was begun, and may be made.
  case perhaps(String)
  /// The page again, with what was wrong beside the field.
  case answer(AdminAnswer)

  init(_ refusal: ControlRefusal) {
    self = .error(refusal.kind, refusal.message)
  }

  init(changing refusal: ControlRefusal) {
    self = refusal.isPerhapsDone ? .perhaps(refusal.message) : ConsoleFailure(refusal)
  }
}

extension ControlRefusal {
  var kind: ErrorPage.Kind {
    switch code {
    case .badRequest, .unknownCommand, .tooLarge, .wrongArguments, .wrongDigits: .badRequest
    case .notPermitted: .forbidden
    case .unknownKey, .unknownSession, .unknownObject, .devicesOff, .adminOff: .notFound
    case .notAllowed: .conflict
    case .timeout, .notWritten, .busy, .storeUnavailable, .shuttingDown: .unavailable
    }
  }
}
