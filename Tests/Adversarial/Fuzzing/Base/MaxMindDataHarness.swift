/// Values in MaxMind's format: whatever the bytes, reading them comes to an end, and what is found is the same wherever it
/// lies in the section.
@testable internal import GeoDatabase

enum MaxMindDataHarness {
  private static let paths: [[StaticString]] = [
    ["country", "iso_code"], ["location", "time_zone"], ["autonomous_system_number"], ["node_count"], [],
  ]

  static func check(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    let data = MaxMindData(bytes.span)
    let isSound = data.isSound(at: 0)
    // Nothing that comes behind is looked at, but by pointers.
    let hasPointer = bytes.contains { $0 >> 5 == 1 }
    let longer = bytes + [0xE1, 0x41]
    for path in paths {
      let value = data.value(at: 0, path)
      if isSound, !hasPointer {
        try require(MaxMindData(longer.span).value(at: 0, path) == value, "what follows changes a value")
      }
      if case .text(let text)? = value {
        try require(text.utf8.count <= bytes.count, "more text than there are bytes")
      }
      for offset in [-1, bytes.count, Int.max, Int.min] {
        try require(data.value(at: offset, path) == nil, "a value where there are no bytes")
      }
    }
    return isSound ? .accepted : .refused
  }
}
