/// The program's version, as `--version` and the start's log line say it.
enum Version {
  static let text = "0.1.0"
}
