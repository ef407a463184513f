/// The program's version, as `--version` and the start's log line say it.
package import Time

package enum Version {
  package static let text = "0.2.0"
  /// No copy of this version existed before: a clock that says less is wrong. To be set with `text` at each
  /// release.
  package static let notBefore = UnixTime(timestamp: "2026-11-29T00:00:00Z") ?? UnixTime(milliseconds: 0)
}
