/// What a gate says to its supervisor (sd_notify(3)), read from one datagram.

struct SupervisedNotice: Equatable, Sendable {
  /// Of the descriptor beside it, or of those to be given up.
  var name = "stored"
  var stores = false
  var removes = false
  /// Given up by itself when its other end hangs up.
  var isWatched = true
  /// Whoever sent it waits until the descriptor beside it is closed (`KeptDescriptors.meet`).
  var isBarrier = false
  /// Assignments for the supervisor's own service manager.
  var passedOn: [String] = []
  /// The same, if this is not the end of the gate alone.
  var passedOnAtEnd: [String] = []

  /// Lines that are not known, or not as they should be, are passed over: a newer gate may say more.
  init(_ text: String) {
    for line in text.split(separator: "\n") {
      guard let equals = line.firstIndex(of: "=") else { continue }
      let value = line[line.index(after: equals)...]
      switch line[..<equals] {
      case "FDSTORE": stores = value == "1"
      case "FDSTOREREMOVE": removes = value == "1"
      case "FDNAME": name = String(value)
      case "FDPOLL": isWatched = value != "0"
      case "BARRIER": isBarrier = value == "1"
      case "READY", "RELOADING", "WATCHDOG":
        if value == "1" { passedOn.append(String(line)) }
      case "MONOTONIC_USEC":
        if UInt64(value) != nil { passedOn.append(String(line)) }
      case "STATUS":
        if value.utf8.count <= 1024, value.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F })
        {
          passedOn.append(String(line))
        }
      case "STOPPING":
        if value == "1" { passedOnAtEnd.append(String(line)) }
      default: break
      }
    }
  }
}
