import Foundation
import Obligation
import Testing

@testable import QRCode

@Suite struct QRCodeTests {
  /// As long as a pairing URI, and of the same characters.
  private static let pairing =
    "PORTCULLIS:/1/PAIRINGIDPAIRINGIDPAIRINGI/SECRETSECRETSECRETSECRET22"
    + "/HASHOFTHESERVERSKEYHASHOFTHESERVERSKEYHASHOFTHESERV/GATE.EXAMPLE.COM:8443"

  @Test(arguments: ["", String(repeating: "x", count: 2_332), String(repeating: "X", count: 3_392)])
  func noCode(text: String) {
    #expect(QRCode(text) == nil)
  }

  @Test(arguments: [
    (String(repeating: "x", count: 2_331), 177), (String(repeating: "X", count: 3_391), 177), ("A", 21),
    // Version 6; as bytes it takes version 8.
    (pairing, 41), (pairing + "_", 49),
  ])
  func width(text: String, width: Int) throws {
    let code = try #require(QRCode(text))
    #expect(code.width == width)
  }

  /// The three corners that readers look for (ISO/IEC 18004, "Finder pattern"), and light around the code.
  @Test func corners() throws {
    let code = try #require(QRCode("A"))
    for (column, row) in [(0, 0), (14, 0), (0, 14)] {
      for place in 0..<7 {
        #expect(
          code.isDark(column: column + place, row: row) && code.isDark(column: column, row: row + place))
      }
      #expect(!code.isDark(column: column + 1, row: row + 1) && code.isDark(column: column + 3, row: row + 3))
    }
    #expect(!code.isDark(column: -1, row: 0) && !code.isDark(column: 0, row: 21))
  }

  /// Fewer modules, and fewer light ones around them: what an 80 by 24 window has room for.
  @Test func smallerCodes() throws {
    let code = try #require(QRCode(Self.pairing, correction: .low))
    #expect(code.width == 37 && code.terminalColumns(quietZone: QRCode.narrowQuietZone) == 41)
    #expect(code.terminalLines(quietZone: QRCode.narrowQuietZone).count == 21)
    #expect(code.terminalLines.count == 23 && code.terminalColumns == 45)
  }

  @Test func linesAreOfOneWidth() throws {
    let code = try #require(QRCode("A"))
    let lines = code.terminalLines
    #expect(lines.count == 15 && code.terminalColumns == 29)
    for line in lines {
      #expect(line.hasPrefix("\u{1B}[38;5;16;48;5;231m") && line.hasSuffix("\u{1B}[0m"))
      #expect(line.unicodeScalars.filter { " ▀▄█".unicodeScalars.contains($0) }.count == 29)
    }
  }

  /// What is shown is read by zbar, which knows nothing of how it was made.
  @Test(
    .enabled(
      if: Obligation.runs(FileManager.default.isExecutableFile(atPath: reader), "zbar"),
      "needs Debian's zbar-tools"),
    arguments: [
      pairing, pairing + "_", "A", "https://example.com/a?b",
      String(repeating: "LONG $%*+-./:09AZ ", count: 20),
    ])
  func isRead(text: String) throws {
    let code = try #require(QRCode(text))
    let image = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).pgm")
    defer { try? FileManager.default.removeItem(at: image) }
    try Screen(code.terminalLines).image.write(to: image)
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(filePath: Self.reader)
    process.arguments = ["--quiet", "--raw", "-Sdisable", "-Sqrcode.enable", image.path()]
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let read = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    #expect(String(decoding: read, as: UTF8.self) == text + "\n")
  }

  private static let reader = "/usr/bin/zbarimg"
}

/// What a terminal shows of lines of half blocks: it obeys the colours, knows nothing of codes, and takes a picture.
private struct Screen {
  private static let pixels = 4
  private static let background: UInt8 = 0x80
  private var rows: [[UInt8]] = []

  init(_ lines: [String]) {
    for line in lines {
      var upper: [UInt8] = []
      var lower: [UInt8] = []
      // A dark theme.
      var (ink, paper): (UInt8, UInt8) = (0xC0, Self.background)
      var rest = Substring(line)
      while let character = rest.popFirst() {
        switch character {
        case "\u{1B}":
          let sequence = rest.prefix { $0 != "m" }
          rest = rest.dropFirst(sequence.count + 1)
          (ink, paper) = sequence == "[38;5;16;48;5;231" ? (0x00, 0xFF) : (0xC0, Self.background)
        case "▀": (upper, lower) = (upper + [ink], lower + [paper])
        case "▄": (upper, lower) = (upper + [paper], lower + [ink])
        case "█": (upper, lower) = (upper + [ink], lower + [ink])
        default: (upper, lower) = (upper + [paper], lower + [paper])
        }
      }
      rows += [upper, lower]
    }
  }

  /// Portable graymap, binary.
  var image: Data {
    let width = rows.map(\.count).max() ?? 0
    var data = Data("P5 \(width * Self.pixels) \(rows.count * Self.pixels) 255\n".utf8)
    for row in rows {
      let line = row.flatMap { [UInt8](repeating: $0, count: Self.pixels) }
      for _ in 0..<Self.pixels { data.append(contentsOf: line) }
    }
    return data
  }
}
