/// What the operator's commands ask of the running gate: one JSON object a line (docs/running.md, "Control socket").
package import Bytes
internal import JSON
internal import Registry

package enum ControlRequest: Equatable, Sendable {
  case health
  case statistics
  /// The last refusals, by code and step.
  case refusals
  case keysStatistics
  case keysRevoke(KeyIdentifier, reason: RevocationReason? = nil)
  /// Keys that were neither used nor registered for so long.
  case keysPrune(unusedSeconds: Int64)
  /// Keys of another gate, good for a while.
  case keysImport(ForeignKeys)
  case sessionsList
  case sessionsClose(SessionSelection)
  /// Accept no new players; current players go on.
  case drain
  /// Let everybody in again.
  case undrain
  /// End all sessions for good, those too that outlive the process, and take no new ones.
  case drainEnd
  /// Of devices, services, approvals and their audit.
  case registry(RegistryOrder)
  /// Of who may see the console.
  case admin(AdminOrder)

  package enum SessionSelection: Equatable, Sendable {
    /// By its number, as `sessions list` and the log have it.
    case session(UInt64)
    /// By the connection's name, as the log and `sessions list` have it.
    case connection(String)
    case key(KeyIdentifier)
  }
}

extension ControlRequest {
  /// The word in `command`.
  package enum Command: String, CaseIterable, Sendable {
    case health
    case statistics = "stats"
    case refusals
    case keysStatistics = "keys-stats"
    case keysRevoke = "keys-revoke"
    case keysPrune = "keys-prune"
    case keysImport = "keys-import"
    case sessionsList = "sessions-list"
    case sessionsClose = "sessions-close"
    case drain
    case undrain
    case drainEnd = "drain-end"
    case registry
    case adminLink = "admin-link"
    case adminToken = "admin-token"
    case adminList = "admin-list"
    case adminRevoke = "admin-revoke"
  }

  package var command: Command {
    switch self {
    case .health: .health
    case .statistics: .statistics
    case .refusals: .refusals
    case .keysStatistics: .keysStatistics
    case .keysRevoke: .keysRevoke
    case .keysPrune: .keysPrune
    case .keysImport: .keysImport
    case .sessionsList: .sessionsList
    case .sessionsClose: .sessionsClose
    case .drain: .drain
    case .undrain: .undrain
    case .drainEnd: .drainEnd
    case .registry: .registry
    case .admin(let order): order.command
    }
  }

  /// The object, without the line feed that ends it.
  package var line: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("command")
    writer.value(command.rawValue)
    switch self {
    case .health, .statistics, .refusals, .keysStatistics, .sessionsList, .drain, .undrain, .drainEnd: break
    case .keysRevoke(let keyID, let reason):
      writer.name("keyId")
      writer.value(keyID.base64)
      if let reason {
        writer.name("reason")
        writer.value(reason.text)
      }
    case .sessionsClose(.key(let keyID)):
      writer.name("keyId")
      writer.value(keyID.base64)
    case .keysPrune(let seconds):
      writer.name("unusedSeconds")
      writer.value(seconds)
    case .keysImport(let keys): keys.write(to: &writer)
    case .sessionsClose(.session(let number)):
      writer.name("session")
      writer.value(Int64(clamping: number))
    case .sessionsClose(.connection(let name)):
      writer.name("connection")
      writer.value(name)
    case .registry(let order):
      writer.name("verb")
      writer.value(order.verb.rawValue)
      writer.name("arguments")
      writer.value(.object(order.arguments))
    case .admin(let order): order.writeMembers(to: &writer)
    }
    writer.endObject()
    return writer.bytes
  }

  /// Strict: a member that the command does not have might be meant to narrow it down.
  package init(parsing line: Span<UInt8>) throws(ControlRefusal) {
    let value: JSONValue
    do throws(JSONError) {
      value = try JSONValue(parsing: line, depthLimit: 4)
    } catch {
      throw ControlRefusal(.badRequest, "not one JSON object: \(error)")
    }
    guard let object = value.object else { throw ControlRefusal(.badRequest, "not a JSON object") }
    guard let word = object["command"]?.string else {
      throw ControlRefusal(.badRequest, "no command: name one in \"command\"")
    }
    guard let command = Command(rawValue: word) else {
      throw ControlRefusal(
        .unknownCommand,
        "not a command: \(PrintableText.field(word, limit: 64)); there are "
          + Command.allCases.map(\.rawValue).joined(separator: ", "))
    }
    self = try Self.make(command, object)
    let known = Self.memberNames(of: command)
    for member in object.members where !known.contains(member.name) {
      throw ControlRefusal(
        .badRequest, "\(command.rawValue) has no member \(PrintableText.field(member.name, limit: 64))")
    }
  }

  private static func memberNames(of command: Command) -> [String] {
    switch command {
    case .health, .statistics, .refusals, .keysStatistics, .sessionsList, .drain, .undrain, .drainEnd:
      ["command"]
    case .keysRevoke: ["command", "keyId", "reason"]
    case .keysPrune: ["command", "unusedSeconds"]
    case .keysImport: ForeignKeys.memberNames
    case .sessionsClose: ["command", "keyId", "connection", "session"]
    case .registry: ["command", "verb", "arguments"]
    case .adminLink, .adminToken, .adminList, .adminRevoke: AdminOrder.memberNames(of: command)
    }
  }

  private static func make(_ command: Command, _ object: JSONObject) throws(ControlRefusal) -> ControlRequest
  {
    switch command {
    case .health: return .health
    case .statistics: return .statistics
    case .refusals: return .refusals
    case .keysStatistics: return .keysStatistics
    case .sessionsList: return .sessionsList
    case .drain: return .drain
    case .undrain: return .undrain
    case .drainEnd: return .drainEnd
    case .keysRevoke:
      guard let value = object["keyId"] else { throw ControlRefusal(.badRequest, "no keyId") }
      return .keysRevoke(try keyID(value), reason: try reason(object["reason"]))
    case .keysPrune:
      guard let seconds = object["unusedSeconds"]?.integer, seconds >= 0, seconds <= longestTime else {
        throw ControlRefusal(
          .badRequest, "unusedSeconds must be a whole number of seconds, at most \(longestTime)")
      }
      return .keysPrune(unusedSeconds: seconds)
    case .keysImport: return .keysImport(try ForeignKeys(object))
    case .sessionsClose:
      switch (object["session"], object["connection"], object["keyId"]) {
      case (let number?, nil, nil):
        guard let number = number.integer, number > 0 else {
          throw ControlRefusal(.badRequest, "session must be a number above 0")
        }
        return .sessionsClose(.session(UInt64(number)))
      case (nil, .string(let name)?, nil): return .sessionsClose(.connection(name))
      case (nil, nil, let value?): return .sessionsClose(.key(try keyID(value)))
      default: throw ControlRefusal(.badRequest, "name either a session, a connection or a keyId")
      }
    case .registry: return .registry(try RegistryOrder(object))
    case .adminLink: return .admin(.link)
    case .adminToken: return .admin(try AdminOrder.token(object))
    case .adminList: return .admin(.list)
    case .adminRevoke: return .admin(try AdminOrder.revoke(object))
    }
  }

  private static func keyID(_ value: JSONValue) throws(ControlRefusal) -> KeyIdentifier {
    guard let keyID = value.string.flatMap({ text in KeyIdentifier(base64: text) }) else {
      throw ControlRefusal(.badRequest, "keyId must be base64 of 32 bytes")
    }
    return keyID
  }

  private static func reason(_ value: JSONValue?) throws(ControlRefusal) -> RevocationReason? {
    guard let value else { return nil }
    guard let reason = value.string.flatMap({ text in RevocationReason(text) }) else {
      throw ControlRefusal(
        .badRequest, "reason must be 1 to \(RevocationReason.longest) printable characters")
    }
    return reason
  }

  /// A thousand years, so that no sum of times overflows.
  private static let longestTime: Int64 = 1000 * 366 * 86_400
}

/// Why the gate does not do what it was asked.
package struct ControlRefusal: Error, Equatable, Sendable {
  package enum Code: String, CaseIterable, Sendable {
    case badRequest = "bad_request"
    case unknownCommand = "unknown_command"
    case tooLarge = "too_large"
    case timeout
    case notPermitted = "not_permitted"
    case unknownKey = "unknown_key"
    case unknownSession = "unknown_session"
    /// A device, a service, an approval.
    case unknownObject = "unknown_object"
    /// What the registry's rules do not allow as things stand.
    case notAllowed = "not_allowed"
    case wrongArguments = "wrong_arguments"
    /// Six digits that are not those of the phone.
    case wrongDigits = "wrong_digits"
    /// The gate serves without `DEVICES_PATH`.
    case devicesOff = "devices_off"
    /// The gate serves without `ADMIN_LISTEN`.
    case adminOff = "admin_off"
    /// What was done stands in memory at most.
    case notWritten = "not_written"
    case busy
    /// What was done stands in memory and may or may not be on disk.
    case storeUnavailable = "store_unavailable"
    case shuttingDown = "shutting_down"
  }

  package let code: Code
  /// One sentence for the operator; values of peers in it are escaped.
  package let message: String

  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }
}
