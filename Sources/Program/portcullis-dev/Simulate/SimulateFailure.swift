/// How `simulate` tells why it did not get in, what to do about it, and with which exit status.
import ArgumentParser
import Device
import Dialing
import PortcullisClient
import PortcullisProtocol
import Prompt

enum SimulateFailure {
  /// Says it on standard error.
  static func report(_ error: GateClientError) -> ExitCode {
    complain(error.description)
    if let advice = advice(on: error) { complain(advice) }
    return status(of: error).code
  }

  /// Nil for an end in good order.
  static func status(of end: WebSocketClient.Message) -> ExitStatus? {
    guard case .closed(let code, let reason) = end, code != 1000, code != 1005 else { return nil }
    complain("closed with \(code)\(reason.isEmpty ? "" : ": \(reason.debugDescription)")")
    switch code {
    case 1008: return .noPermission
    case 1002, 1003, 1007, 1009: return .dataError
    default: return .unavailable
    }
  }

  /// How a session has ended, on standard error where that was not in good order; nil: it was.
  /// - Parameter failure: why the last attempt came to nothing.
  static func report(_ outcome: SessionTerminal.Outcome, after failure: GameFailure?) -> ExitCode? {
    switch outcome {
    // As a shell says it of a program that a signal has ended.
    case .signal(let number): return ExitCode(128 + number)
    case .ended(let end): return report(end, after: failure)
    }
  }

  private static func report(_ end: GameEnd, after failure: GameFailure?) -> ExitCode? {
    switch end {
    case .byApp, .left: return nil
    case .byGate(let word): return report(word)
    case .closed(let code): return status(of: .closed(code: code, reason: ""))?.code
    case .failed(let failure): return report(failure)
    case .gaveUp: complain("no way back into the session in time\(failure.map { ": \($0)" } ?? "")")
    case .gone: complain("the session is gone")
    case .takenOver: complain("another connection has taken the session over")
    }
    return ExitStatus.unavailable.code
  }

  private static func report(_ failure: GameFailure) -> ExitCode {
    complain(failure.description)
    // What the failure says by itself is not said twice.
    if failure.detail.isEmpty, let code = failure.code, let advice = advice(on: code, retryAfter: nil) {
      complain(advice)
    }
    switch failure.kind {
    case .untrusted, .pinMismatch: complain(trustAdvice)
    case .interference:
      complain("does something else answer here? See the gate's SUBPROTOCOLS; --raw does without one")
    default: break
    }
    if failure.status == 400, failure.code == .badRequest {
      complain("are the gate's SUBPROTOCOLS without \(SessionRequest.subprotocol)? --raw does without")
    }
    return status(of: failure).code
  }

  private static func status(of failure: GameFailure) -> ExitStatus {
    switch failure.kind {
    case .refused, .interference:
      guard let status = failure.status else { return .dataError }
      return status == 429 || status >= 500 ? .unavailable : .noPermission
    case .unusable, .unsupported, .protocolViolation, .attestation, .storage: return .dataError
    default: return .unavailable
    }
  }

  private static func report(_ word: GateWord) -> ExitCode? {
    switch word {
    case .known(.gameClosed): return nil
    case .known(let reason): complain("the session has ended: \(reason.rawValue)")
    case .other(let text): complain("the session has ended: \(text.debugDescription)")
    }
    switch word {
    case .known(.revoked), .known(.replaced), .known(.closedByOperator): return ExitStatus.noPermission.code
    case .known, .other: return ExitStatus.unavailable.code
    }
  }

  private static func status(of error: GateClientError) -> ExitStatus {
    switch error {
    case .invalidURL, .invalidField: .usage
    case .unresolved, .unreachable, .broken, .timedOut, .handshake, .untrusted, .notPinned, .closed:
      .unavailable
    case .tlsSettings, .malformedResponse, .protocolViolation: .dataError
    case .refused(let response):
      response.status == 429 || response.status >= 500 ? .unavailable : .noPermission
    case .device(.issuing): .software
    case .device(.exists): .cannotCreate
    case .device(.file), .device(.unusable), .device(.counterExhausted): .dataError
    }
  }

  private static func advice(on error: GateClientError) -> String? {
    switch error {
    case .untrusted, .notPinned: trustAdvice
    case .refused(let response):
      response.errorCode.flatMap(RefusalCode.init).flatMap {
        advice(on: $0, retryAfter: response[HeaderName.retryAfter])
      }
    default: nil
    }
  }

  static let trustAdvice =
    "name its authority with --ca, or its fingerprint, which a gate without certificate logs, with --pin"

  static func advice(on code: RefusalCode, retryAfter: String?) -> String? {
    switch code {
    case .assertionRequired:
      "the gate wants an assertion: leave out --without-assertion, or show a client certificate"
    case .nonceInvalid: "the challenge was older than a minute, or used before: try again"
    case .keyUnknown: "the gate does not know this key: run `portcullis simulate register`"
    case .assertionRejected:
      "is the state file an old copy, with a counter that the gate has seen? Its log names the step"
    case .attestationRejected:
      "the gate's log names the step: APPATTEST_ROOT_CA_PATH must be this authority's root, and app id and "
        + "environment of the key must be configured"
    case .keyRevoked: "this key is locked out: remove the state file and register a new one"
    case .superseded: "another connection with this key came in meanwhile: try again"
    case .originForbidden: "the Origin header is not among the gate's ALLOWED_ORIGINS"
    case .notFound: "the gate has no app id configured, or something else answers here"
    case .backendUnavailable: "the gate cannot reach the game: see its BACKEND"
    case .tokenRejected, .deviceUnknown: "the gate does not know this phone any more: pair it again"
    case .devicePending: "an operator has to confirm the phone first: portcullis devices confirm <id>"
    case .deviceRevoked: "an operator has revoked this phone: name another --state and pair anew"
    case .levelTooLow: "an app has to vouch for the phone: simulate phone attest"
    case .codeRejected: "these are not the digits that the requester has been shown"
    case .presenceRejected:
      "is the phone active, its subject one that this service may name, and its signal strong enough? The gate's log names "
        + "the step"
    case .presenceRequired:
      "the phone has to be near a desktop first: simulate desktop, and simulate phone presence"
    case .attestationStale: "the app has to vouch for the phone again: name its key with --app"
    case .subjectLocked: "too many wrong codes: an operator says portcullis devices unlock"
    case .clockSkewed: "the clocks of phone and gate are more than five minutes apart"
    case .rateLimited, .overloaded, .shuttingDown, .storeUnavailable:
      "try again\(retryAfter.map { " in \($0) s" } ?? " later")"
    default: nil
    }
  }
}

extension ExitStatus {
  fileprivate var code: ExitCode { ExitCode(rawValue) }
}
