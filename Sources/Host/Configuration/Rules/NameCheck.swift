/// Names that are no settings: which are refused, and which look like a slip of the finger (docs/settings.md,
/// "Problems").
package enum NameCheck {
  /// Names with these beginnings are ours, so an unknown one is an error wherever it stands.
  static let ownPrefixes = ["APPATTEST_", "PORTCULLIS_", "KEYSTORE_", "MTLS_"]

  static func isOurs(_ name: String) -> Bool { ownPrefixes.contains { name.hasPrefix($0) } }

  /// The setting within two letters of `name`, the nearest first, or nil.
  ///
  /// A letter is one inserted, left out, changed, or swapped with its neighbour; case does not count. Names
  /// of fewer than five letters are never taken for a slip: the shortest setting has six, and PATH, HOME,
  /// HOST, PORT, USER and LANG mean what they say. A setting's name with more after it (LISTEN_FDS,
  /// LISTEN_PID) is too far away already.
  static func setting(near name: String) -> String? {
    let bytes = Array(name.uppercased().utf8)
    guard bytes.count >= 5, bytes.count <= longestName + 2 else { return nil }
    var nearest: (name: String, distance: Int)?
    for setting in SettingTable.current {
      let distance = distance(bytes, Array(setting.name.utf8), atMost: 2)
      if let distance, distance < nearest?.distance ?? 3 { nearest = (setting.name, distance) }
    }
    return nearest?.name
  }

  private static let longestName = SettingTable.settings.map(\.name.utf8.count).max() ?? 0

  /// Optimal string alignment distance (Damerau–Levenshtein without editing twice), or nil beyond `limit`.
  package static func distance(_ left: [UInt8], _ right: [UInt8], atMost limit: Int) -> Int? {
    guard abs(left.count - right.count) <= limit else { return nil }
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for row in 0..<left.count {
      var current = [row + 1]
      for column in 0..<right.count {
        let isEqual = left[row] == right[column]
        var cost = min(last[column + 1] + 1, current[column] + 1, last[column] + (isEqual ? 0 : 1))
        if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
          cost = min(cost, beforeLast[column - 1] + 1)
        }
        current.append(cost)
      }
      (beforeLast, last) = (last, current)
    }
    return last[right.count] <= limit ? last[right.count] : nil
  }
}
