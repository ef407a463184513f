/// What the style sheet promises whoever does not see well: contrast in both schemes (WCAG 2.2, 1.4.3 and 1.4.11), and
/// nothing from elsewhere.
import Foundation
import Testing

@testable import Console

@Suite struct StyleTests {
  private let sheet = String(decoding: ConsoleAsset.style.bytes, as: UTF8.self)

  /// Colours by name, of the light scheme and of the dark one.
  private func schemes() throws -> [[String: String]] {
    let blocks = sheet.components(separatedBy: ":root {").dropFirst().map { $0.prefix { $0 != "}" } }
    let schemes = blocks.map { block in
      Dictionary(
        block.matches(of: /--([a-z-]+): (#[0-9a-f]{6});/).map { (String($0.1), String($0.2)) },
        uniquingKeysWith: { $1 })
    }
    try #require(schemes.count == 2 && schemes[0].count > 20 && Set(schemes[0].keys) == Set(schemes[1].keys))
    return schemes
  }

  /// Relative luminance (WCAG 2.2, "relative luminance").
  private static func luminance(_ colour: String) throws -> Double {
    let number = try #require(Int(colour.dropFirst(), radix: 16))
    let parts = [16, 8, 0].map { shift -> Double in
      let part = Double(number >> shift & 0xFF) / 255
      return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
    }
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
  }

  private static func contrast(_ one: String, _ other: String) throws -> Double {
    let pair = try [luminance(one), luminance(other)].sorted()
    return (pair[1] + 0.05) / (pair[0] + 0.05)
  }

  @Test func textStandsOut() throws {
    var pairs: [(String, String)] = [("on", "link"), ("on", "danger")]
    for ground in ["ground", "panel", "shade"] { pairs += ["text", "soft", "link"].map { ($0, ground) } }
    for word in ["good", "doubtful", "bad", "neutral"] { pairs.append((word, "\(word)-ground")) }
    pairs += [("bad", "panel"), ("bad", "ground")]
    for scheme in try schemes() {
      for (text, ground) in pairs {
        let contrast = try Self.contrast(#require(scheme[text]), #require(scheme[ground]))
        #expect(contrast >= 4.5, "\(text) on \(ground): \(contrast)")
      }
    }
  }

  @Test func edgesAndLinesStandOut() throws {
    for scheme in try schemes() {
      for (line, ground) in [
        ("edge", "panel"), ("edge", "ground"), ("focus", "ground"), ("focus", "panel"),
        ("area-line", "panel"),
        ("start", "panel"), ("area-line", "ground"),
      ] {
        let contrast = try Self.contrast(#require(scheme[line]), #require(scheme[ground]))
        #expect(contrast >= 3, "\(line) on \(ground): \(contrast)")
      }
    }
  }

  /// Every class that a page can have is dressed, and the sheet dresses no other.
  @Test func classesAreThoseThatThereAre() {
    let dressed = Set(sheet.matches(of: /\.([a-z][a-z-]*)(?=[ ,:>{\[.])/).map { String($0.1) })
    // The script finds times by it that are to come.
    let known = Set(StyleClass.allCases.map(\.rawValue)).subtracting([StyleClass.countdown.rawValue])
    #expect(dressed.subtracting(known).isEmpty, "\(dressed.subtracting(known).sorted())")
    #expect(known.subtracting(dressed).isEmpty, "\(known.subtracting(dressed).sorted())")
  }

  @Test func nothingComesFromElsewhere() {
    for word in ["url(", "@import", "animation", "transition"] { #expect(!sheet.contains(word), "\(word)") }
    let script = String(decoding: ConsoleAsset.script.bytes, as: UTF8.self)
    for word in [
      "innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "Function(", ".style", "http://",
      "import ",
    ] {
      #expect(!script.replacing("http://www.w3.org/2000/svg", with: "").contains(word), "\(word)")
    }
  }
}
