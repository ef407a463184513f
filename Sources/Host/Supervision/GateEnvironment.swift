/// The environment of a supervised gate: the supervisor's own, with itself in the place of the service manager.

enum GateEnvironment {
  /// What is between the supervisor and its own service manager.
  private static let own: Set<String> = [
    "NOTIFY_SOCKET", "FDSTORE", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "LISTEN_PIDFDID",
    "WATCHDOG_PID",
    "WATCHDOG_USEC",
  ]

  static func of(
    _ environment: [(String, String)], supervisor: Int32, inbox: String, capacity: Int
  ) -> [(String, String)] {
    var variables = environment.filter { name, _ in !own.contains(name) }
    variables.append(("NOTIFY_SOCKET", inbox))
    variables.append(("FDSTORE", String(capacity)))
    // Signs of life that are expected of the supervisor are the gate's to give.
    let watched = environment.first { $0.0 == "WATCHDOG_PID" }?.1
    if let interval = environment.first(where: { $0.0 == "WATCHDOG_USEC" }),
      watched == nil || watched == String(supervisor)
    {
      variables.append(interval)
    }
    return variables
  }
}
