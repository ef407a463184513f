/// What a message says beside the problem: which file would have set a path, and how somebody gets at one that he may not open.
import Configuration
import System

extension GateConfiguration {
  /// What comes first in a message about the path of a setting: nil where somebody has stated it, and knows of it.
  package func unstated(_ setting: String) -> String? {
    if origin.statedNames.contains(setting) { return nil }
    guard let file = origin.file else { return "no settings file was named: --config FILE" }
    return "\(setting) is not set in \(file)"
  }
}

/// How somebody gets at a file that he may not open.
package enum AccessRemedy {
  /// By whose it is, or whose the nearest folder above it that can be looked at.
  package static func text(for path: String) -> String {
    var place = path
    while !place.isEmpty {
      if let owner = try? FileStatus.of(place).user {
        guard owner != 0 else { break }
        return "run it as root or as the gate's user \(Account.of(user: owner).name)"
      }
      place = place.lastIndex(of: "/").map { String(place[..<$0]) } ?? ""
    }
    return "run it as root or as the gate's user"
  }
}
