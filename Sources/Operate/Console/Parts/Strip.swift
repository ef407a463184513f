/// The last day as a strip: when the gate let players in, when something was wrong, and when it was down.
internal import JSON
internal import Prompt

struct Strip: Sendable {
  static let name = "strip"
  private static let height = 10

  /// Oldest first, a minute each, up to now.
  private let minutes: [Standing]

  init(of history: History) {
    let points = history.points.suffix(History.minutes)
    // Before the first that is known nobody knows.
    let known = points.drop { $0 == nil }
    minutes = known.map { $0?.standing ?? .bad }
  }

  func count(_ standing: Standing) -> Int { minutes.count { $0 == standing } }

  /// `up 23 h 20 min · degraded 4 min · down 38 min`; what did not occur is left out.
  var sentence: String {
    let parts = [("up", Standing.good), ("degraded", .doubtful), ("down", .bad)].compactMap {
      word, standing in
      let count = count(standing)
      return count == 0 && standing != .good
        ? nil : "\(word) \(Wording.duration(seconds: Int64(count) * 60))"
    }
    return parts.joined(separator: " · ")
  }

  func outline(_ standing: Standing) -> Outline {
    var outline = Outline()
    let first = History.minutes - minutes.count
    var index = 0
    while index < minutes.count {
      let start = index
      while index < minutes.count, minutes[index] == standing { index += 1 }
      if index > start {
        outline.move(to: first + start, Self.height)
        outline.line(to: first + start, 0)
        outline.line(to: first + index, 0)
        outline.line(to: first + index, Self.height)
      } else {
        index += 1
      }
    }
    return outline
  }

  fileprivate static let standings: [(Standing, StyleClass)] = [
    (.good, .up), (.doubtful, .shaky), (.bad, .down),
  ]

  func writeDrawing(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("label", "The last 24 hours: \(sentence)")
    writer.name("layers")
    writer.beginArray()
    for (standing, _) in Self.standings { writer.value(outline(standing).text) }
    writer.endArray()
    writer.endObject()
  }
}

extension HTML {
  mutating func strip(_ strip: Strip) {
    element(.figure, .class(.strip)) { html in
      html.element(
        .svg, .fixed(.viewBox, "0 0 1440 10"), .fixed(.preserveAspectRatio, "none"), .fixed(.role, "img"),
        .text(.ariaLabel, "The last 24 hours: \(strip.sentence)"), .text(.dataChart, Strip.name),
        .fixed(.focusable, "false")
      ) { html in
        for (standing, style) in Strip.standings {
          html.element(.path, .class(style), .drawing(strip.outline(standing)))
        }
      }
      html.element(.figureCaption) { html in
        html.element(.span, .class(.note), text: "The last 24 hours")
        html.element(.span, .class(.note), .text(.dataLive, "strip"), text: strip.sentence)
      }
    }
  }
}
