/// How commands ask the running gate, and what they make of its refusals.
package import Configuration
import Glibc
package import Prompt
import System

package enum ControlAccess {
  /// The answer, or the reason on standard error and an exit status.
  package static func ask(
    _ request: ControlRequest, _ configuration: GateConfiguration,
    within time: Duration = ControlClient.patience
  ) throws -> ControlAnswer {
    do {
      return try ControlClient.ask(
        request, at: configuration.controlSocketPath, within: time, onWaiting: tellOfWaiting)
    } catch {
      throw failure(error, configuration.unstated("CONTROL_SOCKET"))
    }
  }

  /// The same at the socket that `setting` names.
  package static func ask(
    _ request: ControlRequest, at path: String, setting: String = "CONTROL_SOCKET",
    within time: Duration = ControlClient.patience
  ) throws -> ControlAnswer {
    do {
      return try ControlClient.ask(
        request, at: path, setting: setting, within: time, onWaiting: tellOfWaiting)
    } catch {
      throw failure(error)
    }
  }

  /// Nil when no gate is running.
  package static func askIfRunning(
    _ request: ControlRequest, _ configuration: GateConfiguration
  ) throws -> ControlAnswer? {
    do {
      return try ControlClient.ask(request, at: configuration.controlSocketPath, onWaiting: tellOfWaiting)
    } catch .notRunning {
      return nil
    } catch {
      throw failure(error, configuration.unstated("CONTROL_SOCKET"))
    }
  }

  package static func refusal(_ refusal: ControlRefusal) -> ExitStatus {
    complain(refusal.message)
    let status: ExitStatus =
      switch refusal.code {
      case .unknownKey, .unknownSession, .unknownObject, .notAllowed, .wrongDigits: .dataError
      case .wrongArguments: .usage
      case .devicesOff, .adminOff: .configuration
      case .notWritten: .ioError
      case .storeUnavailable, .timeout, .shuttingDown, .busy: .temporaryFailure
      case .notPermitted: .noPermission
      case .badRequest, .unknownCommand, .tooLarge: .software
      }
    return status
  }

  /// The gate answered something else than was asked.
  package static func unexpected(_ answer: ControlAnswer) -> ExitStatus {
    if case .refused(let refusal) = answer { return self.refusal(refusal) }
    complain(
      "unexpected reply type (internal error): portcullis check --health says which version the running gate has"
    )
    return ExitStatus.software
  }

  /// What a path that is no absolute one begins in.
  package static var folder: String { (try? RealPath.of(".")) ?? "this folder" }

  private static func tellOfWaiting() {
    if isatty(2) == 1 { complain("waiting for the gate to finish ...") }
  }

  /// - Parameter unstated: what comes first where the path is a default: it may be another gate's, or nobody's.
  private static func failure(_ error: ControlClientError, _ unstated: String? = nil) -> ExitStatus {
    let start = unstated.map { "\($0); " } ?? ""
    switch error {
    case .notRunning(let path, _) where unstated != nil:
      complain("\(start)no gate answers at \(path) in \(folder)")
    case .failed(let path, let error) where error.number == EACCES:
      complain("\(start)\(path): \(error): \(AccessRemedy.text(for: path))")
    default: complain(start + error.description)
    }
    switch error {
    case .failed(_, let error): return error.number == EACCES ? .noPermission : .unavailable
    case .notRunning: return ExitStatus.unavailable
    case .timedOut, .noAnswer: return ExitStatus.temporaryFailure
    case .notUnderstood: return ExitStatus.software
    }
  }
}
