/// The game's text as lines, in the colours that its ANSI escape sequences ask for (ECMA-48).
import SwiftUI

struct Transcript {
  struct Line: Identifiable {
    let id: Int
    var text: AttributedString
  }

  /// Whole lines, the newest last.
  private(set) var lines: [Line] = []
  /// What no line end has followed: a prompt, or the beginning of a line.
  private(set) var open = AttributedString()
  private var isPrompt = false
  private var count = 0

  // Of the escape sequence that is being read: what stands between `ESC [` and its last letter.
  private enum Reading {
    case text
    case escape
    case sequence(String)
  }
  private var reading = Reading.text
  private var color: Color?
  private var isBold = false

  // MARK: What comes

  mutating func append(_ text: String) {
    if isPrompt { endLine() }
    var run = ""
    for scalar in text.unicodeScalars {
      switch (reading, scalar) {
      case (.text, "\u{1B}"):
        paint(&run)
        reading = .escape
      case (.text, "\n"):
        paint(&run)
        endLine()
      case (.text, " "..."\u{10FFFF}"), (.text, "\t"): run.unicodeScalars.append(scalar)
      case (.text, _): break
      case (.escape, "["): reading = .sequence("")
      case (.escape, _): reading = .text
      case (.sequence(let numbers), "@"..."~"):
        if scalar == "m" {
          apply(numbers.split(separator: ";", omittingEmptySubsequences: false).map { Int($0) ?? 0 })
        }
        reading = .text
      case (.sequence(let numbers), _):
        reading = numbers.utf8.count < 64 ? .sequence(numbers + String(scalar)) : .text
      }
    }
    paint(&run)
  }

  /// What is open is a prompt: it stays where the player types.
  mutating func endPrompt() { isPrompt = true }

  /// What the player has typed behind it.
  mutating func type(_ line: String) {
    var typed = AttributedString(line)
    typed.foregroundColor = .accentColor
    open += typed
    endLine()
  }

  /// A word of the app's own.
  mutating func note(_ text: String) {
    let before = open
    open = AttributedString("— \(text)")
    open.foregroundColor = .secondary
    endLine()
    open = before
  }

  // MARK: Lines and colours

  private mutating func endLine() {
    count += 1
    lines.append(Line(id: count, text: open))
    if lines.count > 2_000 { lines.removeFirst(500) }
    open = AttributedString()
    isPrompt = false
  }

  private mutating func paint(_ run: inout String) {
    guard !run.isEmpty else { return }
    var painted = AttributedString(run)
    if let color { painted.foregroundColor = color }
    if isBold { painted.inlinePresentationIntent = .stronglyEmphasized }
    open += painted
    run = ""
  }

  /// SGR: ECMA-48 §8.3.117, and the colours that xterm adds.
  private mutating func apply(_ codes: [Int]) {
    var codes = codes[...]
    while let code = codes.popFirst() {
      switch code {
      case 0: (color, isBold) = (nil, false)
      case 1: isBold = true
      case 22: isBold = false
      case 30...37: color = Self.color(code - 30)
      case 90...97: color = Self.color(code - 82)
      case 39: color = nil
      case 38, 48:
        let isForeground = code == 38
        var extended: Color?
        switch codes.popFirst() {
        case 5: extended = codes.popFirst().map(Self.color)
        case 2:
          let parts = codes.prefix(3).map { Double($0) / 255 }
          codes = codes.dropFirst(3)
          if parts.count == 3 { extended = Color(red: parts[0], green: parts[1], blue: parts[2]) }
        default: break
        }
        if isForeground { color = extended }
      default: break
      }
    }
  }

  /// One of xterm's 256.
  private static func color(_ number: Int) -> Color {
    switch number {
    case 0..<16: return basic[number]
    case 16..<232:
      let place = number - 16
      return Color(red: level(place / 36), green: level(place / 6 % 6), blue: level(place % 6))
    case 232..<256: return Color(white: Double(8 + 10 * (number - 232)) / 255)
    default: return .primary
    }
  }

  private static func level(_ step: Int) -> Double {
    step == 0 ? 0 : Double(55 + 40 * step) / 255
  }

  /// Those that can be read on a bright screen and on a dark one.
  private static let basic: [Color] = [
    .gray, .red, .green, .orange, .blue, .purple, .teal, .primary,
    .secondary, .red, .green, .yellow, .blue, .pink, .cyan, .primary,
  ]
}
