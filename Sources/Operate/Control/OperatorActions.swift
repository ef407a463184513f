/// Who has changed what by the control socket or the approvals socket: a line of the log for each change, and a row of the
/// audit where no call of the registry's leaves one (docs/running.md, "Control socket").
import Bytes
import JSON
package import Logging
import Registry
package import Sockets
import System

package struct OperatorActions: Sendable {
  package let logger: Logger

  package init(logger: Logger) {
    self.logger = logger
  }

  /// An order of the registry's.
  package func log(_ order: RegistryOrder, _ answer: ControlAnswer, by peer: UnixPeer) {
    guard order.verb.isChange else { return }
    let about = Self.named.lazy.compactMap { order.arguments[$0]?.string }.first
    log(order.verb.rawValue, about ?? Self.ownName(order), answer, by: peer)
  }

  private static let named = ["id", "pairing_id", "service", "operation"]

  /// Not a person's, or a phone's: who is forgotten is to be in no log.
  private static func ownName(_ order: RegistryOrder) -> String? {
    order.verb.part == .services || order.verb == .devicesBackup
      ? order.arguments["name"]?.string : nil
  }

  /// - Parameters:
  ///   - action: the audit's word, or the order's.
  ///   - about: what was changed, where that is one thing.
  package func log(_ action: String, _ about: String?, _ answer: ControlAnswer, by peer: UnixPeer) {
    var metadata: Logger.Metadata = [
      "actor": "\(PrintableText.field(Self.name(of: peer), limit: 64))",
      "action": "\(PrintableText.field(action, limit: 64))",
      "uid": "\(peer.user)", "result": "done",
    ]
    if let about { metadata["about"] = "\(PrintableText.field(about, limit: 128))" }
    if case .refused(let refusal) = answer {
      metadata["result"] = refusal.isPerhapsDone ? "perhaps" : "refused"
      metadata["reason"] = "\(refusal.code.rawValue)"
    }
    logger.notice("operator_action", metadata: metadata)
  }

  /// A number without an account is nobody's name.
  private static func name(of peer: UnixPeer) -> String {
    AccountName.of(user: peer.user).text ?? "user \(peer.user)"
  }
}

/// What a request changes that is no order of the registry's: the audit's word for it, and what the row says.
struct OperatorChange {
  let event: AuditEntry.Event
  var members: [AuditEntry.Member] = []
  var about: String?

  /// Nil for what only looks, or changed nothing, or has rows of its own.
  init?(_ request: ControlRequest, _ answer: ControlAnswer) {
    switch request {
    case .keysRevoke(let key, let reason):
      event = .keyRevoked
      members = [.attestedKey(key)] + (reason.map { [.reason($0.text)] } ?? [])
      about = key.base64
    case .keysPrune(let seconds):
      event = .keysPruned
      members = [.number("unused_seconds", seconds)]
      if case .pruned(let keys) = answer { members.append(.count(keys)) }
    case .keysImport:
      event = .keysImported
      if case .imported(let taken, _, _) = answer { members = [.count(taken)] }
    case .sessionsClose(.session(let number)):
      event = .sessionEnded
      members = [.number("session", Int64(clamping: number))]
      about = "\(number)"
    case .sessionsClose(.connection(let name)):
      event = .sessionEnded
      members = [.word("connection", PrintableText.field(name, limit: 64))]
      about = name
    case .sessionsClose(.key(let key)):
      event = .sessionEnded
      members = [.attestedKey(key)]
      about = key.base64
    case .drain: event = .drainBegun
    case .undrain:
      if case .undrained(wasDraining: false) = answer { return nil }
      event = .drainEnded
    case .drainEnd: event = .allSessionsEnded
    case .health, .statistics, .refusals, .keysStatistics, .sessionsList, .registry, .admin: return nil
    }
  }
}

extension ControlRequest.SessionSelection {
  /// As the operator has named it.
  package var shown: String {
    switch self {
    case .session(let number): "\(number)"
    case .connection(let name): "on connection \(PrintableText.field(name, limit: 64))"
    case .key(let keyID): "of key \(keyID.base64)"
    }
  }
}

extension ControlRefusal {
  /// Answers a change: it may be done, or be done in memory alone.
  package var isPerhapsDone: Bool {
    switch code {
    case .timeout, .notWritten, .storeUnavailable: true
    case .badRequest, .unknownCommand, .tooLarge, .wrongArguments, .wrongDigits, .notPermitted, .unknownKey,
      .unknownSession, .unknownObject, .notAllowed, .devicesOff, .adminOff, .busy, .shuttingDown:
      false
    }
  }
}
