/// Members that phones send and the gate does not know: a misspelt one would be missed in silence (docs/risk.md, "Signals").
internal import DeviceWire

package struct StrangeMembers: Equatable, Sendable {
  package enum Place: String, Sendable {
    case signals, heartbeat
  }

  package let place: Place
  package let count: Int
  /// What to write in the place of those among them that other designs have, such as `jailbroken=rooted`, with commas. The
  /// others are a phone's words, and stand nowhere.
  package let remedies: String

  /// Nil where there are none.
  init?(_ names: [String], in place: Place) {
    guard !names.isEmpty else { return nil }
    self.place = place
    count = names.count
    remedies = Self.others.filter { names.contains($0.name) }.map { "\($0.name)=\($0.here)" }.joined(
      separator: ",")
  }

  private static let others: [(name: String, here: String)] = [
    ("bssid_hash", "wifi"), ("coarse_geo", "lat_e1+lon_e1+acc_m"), ("ip_asn", "GEO_PATH"),
    ("jailbroken", "rooted"), ("timezone", "tz"),
  ]

  /// Of which devices it was told. A restart forgets it, and so does very many of them.
  struct Told {
    private static let most = 8192

    private struct Sender: Hashable {
      let device: DeviceID
      let place: Place
    }

    private var senders: Set<Sender> = []

    /// Whether this is the first time.
    mutating func add(_ device: DeviceID, _ place: Place) -> Bool {
      if senders.count >= Self.most { senders = [] }
      return senders.insert(Sender(device: device, place: place)).inserted
    }
  }
}

extension Transaction {
  /// For the log, once of each device.
  mutating func noteStrangers(_ names: [String], in place: StrangeMembers.Place, of device: DeviceID) {
    guard let found = StrangeMembers(names, in: place), devices.strangers.add(device, place) else { return }
    announce(.strangeMembers(device, found))
  }
}
