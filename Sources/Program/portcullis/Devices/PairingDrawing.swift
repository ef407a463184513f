/// How a pairing's code is drawn so that all of it stays in the window, with what stands below it.
import QRCode
import System

struct PairingDrawing {
  let lines: [String]
  /// Whether how things stand and what is typed share the last line.
  let isTight: Bool

  /// Rows below the code: how things stand, and what is typed; or both on one line.
  private static let rowsBelow = 2
  private static let tightRowsBelow = 1
  /// How long it takes to say that a phone is waited for: a line that goes on below pushes the code out of the window.
  private static let statusColumns = 46
  /// What a tight line takes at least, with the longest words that it may have.
  private static let tightColumns = 80

  /// Nil where the window is too small, or does not say how large it is.
  static func fitting(_ uri: String, _ window: WindowSize?) -> PairingDrawing? {
    guard let window else { return nil }
    for rows in [rowsBelow, tightRowsBelow] {
      let isTight = rows == tightRowsBelow
      if isTight, window.columns < tightColumns { break }
      let fitting = drawings(uri).first { drawing in
        window.columns >= drawing.columns && window.rows >= drawing.lines.count + rows
      }
      if let fitting { return PairingDrawing(lines: fitting.lines, isTight: isTight) }
    }
    return nil
  }

  /// Which window would do, where this one does not.
  static func advice(_ uri: String, in window: WindowSize?) -> String? {
    guard let smallest = drawings(uri).last else { return nil }
    let here =
      window.map { "this one has \($0.columns) columns and \($0.rows) rows" }
      ?? "this one does not say how large it is"
    return
      "a window of \(smallest.columns) columns and \(smallest.lines.count + rowsBelow) rows shows the code; \(here)"
  }

  /// The one that is read most easily first; the last is the smallest that readers still find.
  private static func drawings(_ uri: String) -> [(lines: [String], columns: Int)] {
    [(QRCode.Correction.medium, QRCode.quietZone), (.low, QRCode.narrowQuietZone)].compactMap {
      correction, quietZone in
      QRCode(uri, correction: correction).map {
        ($0.terminalLines(quietZone: quietZone), max($0.terminalColumns(quietZone: quietZone), statusColumns))
      }
    }
  }
}
