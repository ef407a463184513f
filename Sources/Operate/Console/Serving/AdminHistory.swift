/// Where the last day of the overview is kept, and what the log says of it (docs/console.md, "Console" and "Logs").
import Admin
import Configuration
import Gateway
import Logging
import Metrics
import System
import Time

enum AdminHistory {
  /// Beside the key file itself where that is a link: the sandbox lets the gate write there.
  static func path(_ configuration: GateConfiguration) -> String {
    let store = configuration.store.path
    return ((try? RealPath.of(store)) ?? store) + ".history"
  }

  static func keeper(_ gate: Gate, path: String, clock: any Clock, _ logger: Logger) -> HistoryKeeper {
    HistoryKeeper(
      path: path,
      gate: HistoryKeeper.Gate(
        onFile: { gate.historyOnFile(wall: $0) }, goOn: { gate.goOn(after: $0, wall: $1) },
        tell: { $0.write(to: logger, path) }), clock: clock)
  }
}

extension HistoryKeeper.Event {
  fileprivate func write(to logger: Logger, _ path: String) {
    switch self {
    case .unread(let error):
      logger.warning("history_unread", metadata: ["path": "\(path)", "reason": "\(error)"])
    case .notOurs(let reason):
      logger.warning(
        "history_not_kept",
        metadata: ["path": "\(path)", "reason": "\(reason)", "result": "what is there stays: move it away"])
    case .unwritten(let error):
      logger.warning("history_unwritten", metadata: ["path": "\(path)", "reason": "\(error)"])
    case .written: logger.notice("history_written", metadata: ["path": "\(path)"])
    }
  }
}
