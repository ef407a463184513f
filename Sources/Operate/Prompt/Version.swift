/// The program's version, as `--version` and the start's log line say it.
package import System

<<<<<<< HEAD:Sources/Operate/Prompt/Version.swift
package enum Version {
  package static let text = "0.1.0"
  /// No copy of this version existed before: a clock that says less is wrong. To be set with `text` at each
  /// release.
  package static let notBefore = UnixTime(timestamp: "2026-11-01T00:00:00Z") ?? UnixTime(milliseconds: 0)
=======
package enum Version {
  package static let text = "0.2.0"
  /// No copy of this version existed before: a clock that says less is wrong. To be set with `text` at each
  /// release.
  package static let notBefore = UnixTime(timestamp: "2026-11-29T00:00:00Z") ?? UnixTime(milliseconds: 0)
>>>>>>> b7008f0b (0.2.0: the changelog says what changes for whoever updates):Sources/Program/portcullis/Version.swift
}
