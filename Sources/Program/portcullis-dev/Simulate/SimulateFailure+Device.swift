/// Why a simulated phone's session came to nothing, in the same words and with the same exit status as everything else.
import ArgumentParser
import Device
import Dialing
import PortcullisDevice
import PortcullisProtocol
import Prompt

extension SimulateFailure {
  static func report(_ failure: DeviceFailure, of phone: SimulatedPhone) -> ExitCode {
    switch failure.kind {
    case .alreadyPaired: complain("already there: \(phone.path)")
    case .notPaired, .unsupported: complain("\(phone.path): \(failure.detail)")
    default: complain(failure.detail)
    }
    if let advice = advice(on: failure) { complain(advice) }
    return ExitCode(status(of: failure).rawValue)
  }

  private static func advice(on failure: DeviceFailure) -> String? {
    switch failure.kind {
    case .untrusted, .pinMismatch: trustAdvice
    case .refused, .clockSkewed:
      failure.code.flatMap { advice(on: $0, retryAfter: failure.retryAfter.map { String(Int($0)) }) }
    default: nil
    }
  }

  private static func status(of failure: DeviceFailure) -> ExitStatus {
    switch failure.kind {
    case .offline, .unreachable, .timeout, .untrusted, .pinMismatch: .unavailable
    case .refused, .interference:
      failure.status.map { $0 == 429 || $0 >= 500 } == true ? .unavailable : .noPermission
    case .rejected, .clockSkewed: .noPermission
    case .alreadyPaired: .cannotCreate
    default: .dataError
    }
  }
}

/// What fails is told, and ends the command.
func reporting<Result>(_ body: () throws(GateClientError) -> Result) throws -> Result {
  do throws(GateClientError) { return try body() } catch { throw SimulateFailure.report(error) }
}
