/// What an operator sees of a pairing: the code, and a line below it that says how things stand.
import Bytes
import DeviceWire
import Glibc
import JSON
import Prompt
import QRCode
import System

/// How a pairing stands, as the gate says.
struct PairingStatus: Equatable {
  enum Stage: String {
    case open, phone, revealed, active, refused
  }

  let stage: Stage
  let deviceName: String?
  let level: String?
  let verification: String?
  let platform: DevicePlatform?

  /// What the gate says of a pairing that it does not know any more.
  static let gone = PairingStatus(
    stage: .refused, deviceName: nil, level: nil, verification: nil, platform: nil)

  init?(_ value: JSONValue) {
    guard let object = value.object, let stage = object["status"]?.string.flatMap({ Stage(rawValue: $0) })
    else {
      return nil
    }
    self.init(
      stage: stage, deviceName: object["device_name"]?.string, level: object["level"]?.string,
      verification: object["uv"]?.string,
      platform: object["platform"]?.string.flatMap { DevicePlatform(rawValue: $0) })
  }

  private init(
    stage: Stage, deviceName: String?, level: String?, verification: String?, platform: DevicePlatform?
  ) {
    self.platform = platform
    self.stage = stage
    self.deviceName = deviceName
    self.level = level
    self.verification = verification
  }

  /// For a person; a phone's name is a stranger's text.
  var text: String { text(nameLimit: 128) }

  /// The same, as short as it can be said, where it shares a line of so many columns.
  func text(within columns: Int) -> String {
    guard stage == .revealed else {
      return text(nameLimit: max(8, columns - " has scanned the code".utf8.count - 3))
    }
    let rest = " (\(word(level)), uv \(word(verification))): type its six digits"
    return name(max(4, columns - rest.utf8.count - 3)) + rest
  }

  /// For a person; a phone's name is a stranger's text.
  var shownName: String { name(128) }

  private func name(_ limit: Int) -> String {
    deviceName.map { PrintableText.field($0, limit: limit) } ?? "a phone"
  }

  private func text(nameLimit: Int) -> String {
    let name = name(nameLimit)
    switch stage {
    case .open: return "waiting for a phone that scans the code"
    case .phone: return "\(name) has scanned the code"
    case .revealed:
      let standing = "level \(word(level)), uv \(word(verification))"
      return "\(name) (\(standing)): type the six digits that it shows"
    case .active: return "\(name) is paired"
    case .refused: return "the pairing is over: refused, or too late"
    }
  }

  private func word(_ text: String?) -> String {
    text.map { PrintableText.field($0, limit: 32) } ?? "unknown"
  }
}

struct PairingView {
  /// Whether standard error, where all but the code goes, is a terminal; else it is a script's log.
  private let isTerminal: Bool
  /// Of a terminal, what stands above the line that is being typed.
  private var shown: String?
  private var lastText: String?
  /// Of a window with no row to spare: the columns for how things stand, before what is typed.
  private var tightColumns: Int?

  init() {
    isTerminal = Prompt.isTerminal(2)
  }

  /// The code itself. Where no terminal shows it, or it is too small for it, the text that the code says.
  mutating func show(_ uri: String) {
    let window = WindowSize(of: 1)
    guard Output.isTerminal, let drawing = PairingDrawing.fitting(uri, window) else {
      say(uri)
      if Output.isTerminal, let advice = PairingDrawing.advice(uri, in: window) { complain(advice) }
      return
    }
    for line in drawing.lines { say(line) }
    // Six digits with blanks, and the prompt.
    if drawing.isTight, let window { tightColumns = window.columns - 12 }
  }

  /// A terminal's line is written over each second, above what is being typed, which stays where it is.
  mutating func show(_ status: PairingStatus, secondsLeft: Int64) {
    guard isTerminal else {
      if status.text != lastText { complain(status.text) }
      lastText = status.text
      return
    }
    let left = max(0, secondsLeft)
    let digits = left % 60 < 10 ? "0\(left % 60)" : "\(left % 60)"
    let time = "\(left / 60):\(digits)"
    if let tightColumns { return show(status.text(within: tightColumns - 6) + " \(time)", in: tightColumns) }
    let columns = (WindowSize(of: 2)?.columns ?? Int.max) - 6
    let text = status.text.count <= columns ? status.text : status.text(within: columns)
    let line = status.stage == .active || status.stage == .refused ? status.text : "\(text) \(time)"
    guard line != shown else { return }
    // Remember the place, go up to the line and put the new one there, come back (ECMA-48; DECSC and DECRC).
    Prompt.tell(shown == nil ? "\(line)\n> " : "\u{1B}7\u{1B}[1A\r\u{1B}[K\(line)\u{1B}8")
    shown = line
  }

  /// On the line that is being typed, whose other columns stay as they are.
  private mutating func show(_ line: String, in columns: Int) {
    guard line != shown else { return }
    let blank = String(repeating: " ", count: columns)
    if shown == nil { Prompt.tell("\(blank) > ") }
    Prompt.tell("\u{1B}7\r\(blank)\r\(line)\u{1B}8")
    shown = line
  }

  /// A word beside the course of things.
  mutating func tell(_ text: String) {
    complain(text)
    beginAnew()
  }

  /// A line was typed, and the cursor is below it.
  mutating func beginAnew() {
    shown = nil
  }

  /// The last word, on a line of its own.
  func end(_ status: PairingStatus) {
    if isTerminal, shown != nil { Prompt.tell("\r\u{1B}[K") }
    complain(status.text)
  }
}
