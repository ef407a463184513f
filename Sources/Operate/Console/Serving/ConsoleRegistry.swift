/// How pages ask the registry: by its orders for operators, in the name of the signed-in user.
import Admin
import Bytes
import Control
import DeviceWire
import JSON
import Registry
import System
import Time

extension ConsolePages {
  /// Whom the audit names. A token is no user of the host, whatever it is called.
  func origin(of actor: AdminActor) -> Origin {
    .console(name: actor.name, user: actor.user)
  }

  /// What a page shows, as the registry's own values.
  func ask<Call: AnsweringCall>(
    _ call: Call, _ request: AdminRequest
  ) throws(ConsoleFailure) -> Call.Answer {
    switch sources.control.ask(call, by: origin(of: request.actor)) {
    case .success(let answer): return answer
    case .failure(let refusal): throw ConsoleFailure(refusal)
    }
  }

  func order(
    _ verb: OperatorVerb, _ arguments: [(name: String, value: JSONValue)], _ request: AdminRequest
  ) -> Result<JSONValue, ControlRefusal> {
    let (control, origin) = (sources.control, origin(of: request.actor))
    let order = RegistryOrder(verb, arguments)
    // On the page's own thread: the registry may search for seconds, and nothing else waits for it.
    switch control.answer(order, by: origin) {
    case .registry(let value): return .success(value)
    case .refused(let refusal): return .failure(refusal)
    default: return .failure(ControlRefusal(.badRequest, "unexpected reply type (internal error)"))
    }
  }
}

extension JSONObject {
  func text(_ name: String) -> String? { self[name]?.string }

  /// Seconds of Unix time, which the registry writes.
  func time(_ name: String) -> UnixTime? {
    guard let seconds = self[name]?.integer else { return nil }
    return UnixTime(milliseconds: seconds.multipliedReportingOverflow(by: 1000).partialValue)
  }
}

extension UnixTime {
  /// As the registry's answers have it: pages of two gates show the same.
  var wholeSecond: UnixTime {
    UnixTime(milliseconds: seconds.multipliedReportingOverflow(by: 1000).partialValue)
  }
}

/// A day of the calendar, in UTC.
struct Day {
  let start: UnixTime
  var end: UnixTime { UnixTime(milliseconds: start.milliseconds + 86_400_000) }

  /// `2026-11-23`, and nothing else.
  init?(_ text: String) {
    guard text.utf8.count == 10, let start = UnixTime(timestamp: Array("\(text)T00:00:00Z".utf8).span) else {
      return nil
    }
    self.start = start
  }

  static func problem(_ field: String, _ text: String) -> FieldProblem {
    FieldProblem(
      field: field, text: "\(PrintableText.field(text, limit: 32)) is no day: write it as 2026-11-23.")
  }
}
