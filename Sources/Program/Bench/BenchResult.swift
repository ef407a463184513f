/// What a load test found: counts, durations, and what failed by its code.
package import Dialing
internal import PortcullisProtocol

package struct BenchResult: Sendable {
  /// Of things done one after the other: how long each took, and how long all of them together.
  package struct Part: Sendable {
    package var latency = LatencyHistogram()
    package var elapsed: Duration = .zero

    package var perSecond: Double {
      elapsed > .zero ? Double(latency.count) / (elapsed / .seconds(1)) : 0
    }
  }

  /// One code of failure with its first wording.
  package struct Failure: Equatable, Sendable {
    package var count: Int
    package var example: String
  }

  /// `POST /attest/register`, without the device's own work.
  package var registration = Part()
  /// From wanting the challenge to having the 101, the device's signature included. At a given rate it counts
  /// from the moment when it was due, so that a gate that stalls is charged with all that had to wait.
  package var admission = Part()
  /// The parts of an admission by themselves, from the moment when they were sent.
  package var challenge = LatencyHistogram()
  package var upgrade = LatencyHistogram()
  /// From a message to all of its bytes having come back.
  package var echo = Part()
  /// At the beginning of the echo part.
  package var sessionsOpened = 0
  /// Answers that said when to come again, and were waited for.
  package var throttled: [String: Int] = [:]
  package private(set) var failures: [String: Failure] = [:]

  package init() {}

  package var failureCount: Int { failures.values.reduce(0) { $0 + $1.count } }

  package mutating func fail(_ code: String, _ example: @autoclosure () -> String) {
    if failures[code] == nil { failures[code] = Failure(count: 0, example: example()) }
    failures[code]?.count += 1
  }

  package mutating func fail(_ error: GateClientError) {
    fail(error.code, error.description)
  }

  /// Puts the findings of one thread to those of the others; elapsed times are the longest.
  package mutating func add(_ other: BenchResult) {
    registration.add(other.registration)
    admission.add(other.admission)
    challenge.add(other.challenge)
    upgrade.add(other.upgrade)
    echo.add(other.echo)
    sessionsOpened += other.sessionsOpened
    throttled.merge(other.throttled, uniquingKeysWith: +)
    failures.merge(other.failures) { Failure(count: $0.count + $1.count, example: $0.example) }
  }
}

extension BenchResult.Part {
  fileprivate mutating func add(_ other: BenchResult.Part) {
    latency.add(other.latency)
    elapsed = max(elapsed, other.elapsed)
  }
}

extension GateClientError {
  /// The gate's own word for a refusal, else one for what became of the connection.
  package var code: String {
    switch self {
    case .refused(let response): response.errorCode ?? "status_\(response.status)"
    case .invalidURL, .invalidField: "invalid_request"
    case .unresolved: "unresolved"
    case .unreachable: "unreachable"
    case .broken: "connection_lost"
    case .timedOut: "timed_out"
    case .tlsSettings: "tls_settings"
    case .handshake: "handshake_failed"
    case .untrusted, .notPinned: "untrusted"
    case .closed: "closed_by_server"
    case .malformedResponse: "malformed_response"
    case .protocolViolation: "protocol_violation"
    case .device: "device"
    }
  }

  /// Seconds after which the gate wants to be asked again, when it only has enough for the moment.
  var retryAfter: Int? {
    guard case .refused(let response) = self, response.status == 429 || response.errorCode == "overloaded"
    else { return nil }
    return response[HeaderName.retryAfter].flatMap { Int($0) }.map { max(1, $0) }
  }
}
