/// Bodies that anybody may send and that loops parse: the most expensive ones of 64 KiB, with the limits of the registry's `Form`.
import JSON

enum Bodies {
  /// What one may take, in microseconds.
  static let bound = 1000.0
  private static let size = 65_536

  /// Each by the part of it that comes again and again.
  static let all: [(name: String, body: [UInt8])] = [
    ("one text", text("a")), ("text of two bytes", text("\u{E9}")),
    ("text of four bytes", text("\u{1F511}")),
    ("escapes of two", text(#"\n"#)), ("escapes of six", text(#"\u00e9"#)),
    ("escapes of twelve", text(#"\ud83d\udd11"#)),
    ("every other an escape", text(#"a\n"#)), ("seven, then an escape", text(#"aaaaaaa\n"#)),
    ("a name of escapes", whole(#"{"x"#, #"\n"#, #"":0}"#)), ("members", whole("{", #""\n":0,"#, #""y":0}"#)),
    ("numbers", whole(#"{"x":["#, "0,", "0]}")), ("one number", whole(#"{"x":"#, "9", "}")),
    ("white space", whole("{", " ", #""x":0}"#)), ("arrays", whole(#"{"x":"#, "[", "")),
  ]

  private static func text(_ unit: String) -> [UInt8] { whole(#"{"x":""#, unit, #""}"#) }

  private static func whole(_ start: String, _ unit: String, _ end: String) -> [UInt8] {
    let count = (size - start.utf8.count - end.utf8.count) / unit.utf8.count
    return Array((start + String(repeating: unit, count: count) + end).utf8)
  }

  /// Prints what each takes, in the quickest of some readings; returns what the dearest one does.
  static func report() -> Double {
    let clock = ContinuousClock()
    var worst = 0.0
    for (name, body) in all {
      var best = Duration.seconds(10)
      for _ in 0..<25 {
        let time = clock.measure {
          _ = try? JSONValue(parsing: body.span, depthLimit: 16, valueLimit: 256).object?["x"]?.string
        }
        best = min(best, time)
      }
      let microseconds = Double(best.components.attoseconds) / 1e12
      worst = max(worst, microseconds)
      print(name + String(repeating: " ", count: 24 - name.count) + "\(Int(microseconds)) µs")
    }
    return worst
  }
}
