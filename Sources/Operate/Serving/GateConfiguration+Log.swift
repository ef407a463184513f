/// Levels and forms of the log, as its modules call them.
package import Configuration
package import Logging
package import Logs

extension GateConfiguration.Log {
  package var loggerLevel: Logger.Level { Logger.Level(rawValue: level.rawValue) ?? .info }
  package var writtenFormat: LogFormat { LogFormat(rawValue: format.rawValue) ?? .text }
}
