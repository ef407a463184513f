/// Asks the running gate one thing over its control socket (docs/running.md, "Control socket").
internal import Glibc
internal import Sockets
package import System
internal import Time

package enum ControlClientError: Error, Equatable, Sendable, CustomStringConvertible {
  /// There is no socket, or nobody answers it.
  case notRunning(path: String, setting: String)
  case failed(path: String, SystemError)
  case timedOut(path: String)
  /// The other side closed without an answer.
  case noAnswer(path: String)
  case notUnderstood(path: String, reason: String)

  package var description: String {
    switch self {
    case .notRunning(let path, let setting):
      "no gate answers at \(path): start it, or name its \(setting)"
    case .failed(let path, let error): "\(path): \(error)"
    case .timedOut(let path): "the gate at \(path) does not answer in time"
    case .noAnswer(let path): "the gate at \(path) closed without an answer: it may be stopping, try again"
    case .notUnderstood(let path, let reason): "\(path): \(reason); is the running gate of this version?"
    }
  }
}

package enum ControlClient {
  /// Longer than the gate may take: to end sessions, and to make a change durable.
  package static let patience: Duration = .seconds(20)
  /// For questions that the gate answers at once.
  package static let briefPatience: Duration = .seconds(5)
  /// After this a wait is worth a word.
  private static let unremarkableTime: Duration = .seconds(1)
  /// Twenty thousand sessions take about 5 MiB.
  static let answerBytes = 256 << 20

  /// - Parameters:
  ///   - setting: the one that names the path, for what goes wrong.
  ///   - onWaiting: called once when the answer takes longer than a second.
  package static func ask(
    _ request: ControlRequest, at path: String, setting: String = "CONTROL_SOCKET",
    within time: Duration = patience, onWaiting: () -> Void = {}
  ) throws(ControlClientError) -> ControlAnswer {
    let deadline = SystemClock().monotonic() + time
    var channel = LineChannel(try connect(path, setting))
    switch channel.write(request.line, until: deadline) {
    case .sent: break
    case .timedOut, .stopped: throw .timedOut(path: path)
    // The gate may have refused us before it read; its answer says why.
    case .failed(let error): if error.number != EPIPE { throw .failed(path: path, error) }
    }
    var received = channel.readLine(
      limit: answerBytes, until: min(deadline, SystemClock().monotonic() + unremarkableTime))
    if received == .timedOut {
      onWaiting()
      received = channel.readLine(limit: answerBytes, until: deadline)
    }
    switch received {
    case .line(let line):
      do throws(ControlAnswerError) {
        return try ControlAnswer(parsing: line.span)
      } catch {
        throw .notUnderstood(path: path, reason: error.description)
      }
    case .ended: throw .noAnswer(path: path)
    case .tooLong: throw .notUnderstood(path: path, reason: "the answer is too long")
    case .timedOut, .stopped: throw .timedOut(path: path)
    case .failed(let error): throw .failed(path: path, error)
    }
  }

  private static func connect(_ path: String, _ setting: String) throws(ControlClientError) -> Socket {
    do throws(SystemError) {
      return try Socket.connecting(to: .unix(path: path))
    } catch {
      switch error.number {
      case ENOENT, ECONNREFUSED: throw .notRunning(path: path, setting: setting)
      // A UNIX socket whose queue is full.
      case EAGAIN: throw .timedOut(path: path)
      default: throw .failed(path: path, error)
      }
    }
  }
}
