/// What `serve` tells the service manager: listening, reloading, draining, and that all loops turn.
internal import Addresses
internal import Gateway
internal import Glibc
internal import Logging
internal import Prompt
internal import Scheduling
internal import System
internal import Time

/// Used by the main thread alone, so that this one is proved alive as well.
struct ServiceReports: ~Copyable {
  private let manager: ServiceManager?
  private let interval: Duration?
  private let clock: any Clock
  private let logger: Logger
  private var schedule: WatchdogSchedule?
  private var acknowledgement: LoopAcknowledgement?
  private var hasFailed = false
  private var isDraining = false

  /// Without a manager everything below does nothing.
  init(environment: [(String, String)], process: Int32, clock: any Clock, logger: Logger) {
    self.clock = clock
    self.logger = logger
    var problem: ServiceManagerError?
    do throws(ServiceManagerError) { manager = try .asking(in: environment) } catch {
      manager = nil
      problem = error
    }
    do throws(ServiceManagerError) {
      interval = try ServiceManager.watchdogInterval(in: environment, process: process)
    } catch {
      interval = nil
      problem = error
    }
    if let problem { note(problem) }
  }

  // MARK: Life

  /// Also after a reload; the first time, signs of life begin.
  mutating func ready(_ gate: Gate) {
    tell(.ready(status: status(gate)))
    if schedule == nil, manager != nil, let interval {
      schedule = WatchdogSchedule(interval: interval, now: clock.monotonic())
    }
  }

  mutating func reloading() {
    tell(.reloading(at: clock.monotonic()))
  }

  mutating func draining(_ gate: Gate) {
    isDraining = true
    tell(.stopping(status: status(gate)))
  }

  /// Gives the sign of life when it is due and deserved.
  /// - Returns: milliseconds until this has to be called again, -1 for never.
  mutating func attend(_ gate: Gate) -> Int32 {
    while true {
      switch schedule?.next(now: clock.monotonic(), isAnswered: acknowledgement?.isComplete ?? false) {
      case .ask?: acknowledgement = gate.askLoops()
      case .tell?: tell(.alive(status: status(gate)))
      case .complain?:
        let loops = acknowledgement?.silentLoops.map(String.init).joined(separator: ",") ?? ""
        logger.error(
          "loops_silent", metadata: ["reason": "no sign of life to the service manager", "loops": "\(loops)"])
      case .wait(let time)?: return Int32(clamping: time.wholeMilliseconds + 1)
      case nil: return -1
      }
    }
  }

  // MARK: Telling

  /// The line that `systemctl status` shows.
  private func status(_ gate: Gate) -> String {
    let endpoints = gate.endpoints.map(\.description).joined(separator: ", ")
    let sessions = gate.sessionCount
    let doing = isDraining || gate.isDraining ? "Draining" : "Listening on \(endpoints)"
    return "\(doing), \(sessions) session\(sessions == 1 ? "" : "s")"
  }

  private mutating func tell(_ notice: ServiceNotice) {
    guard let manager else { return }
    do throws(ServiceManagerError) {
      try manager.tell(notice)
    } catch {
      note(error)
    }
  }

  /// Once: the gate goes on, and a manager that is gone would fill the log.
  private mutating func note(_ problem: ServiceManagerError) {
    if hasFailed { return }
    hasFailed = true
    logger.warning("service_manager", metadata: ["reason": "\(problem)", "result": "not told"])
  }
}
