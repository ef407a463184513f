/// What an operator sees of a pairing: the code, and a line below it that says how things stand.
import Bytes
import Device
import Glibc
import JSON
import QRCode

/// How a pairing stands, as the gate says.
struct PairingStatus: Equatable {
  enum Stage: String {
    case open, phone, revealed, active, refused
  }

  let stage: Stage
  let deviceName: String?
  let level: String?
  let verification: String?

  /// What the gate says of a pairing that it does not know any more.
  static let gone = PairingStatus(stage: .refused, deviceName: nil, level: nil, verification: nil)

  init?(_ value: JSONValue) {
    guard let object = value.object, let stage = object["status"]?.string.flatMap({ Stage(rawValue: $0) })
    else {
      return nil
    }
    self.init(
      stage: stage, deviceName: object["device_name"]?.string, level: object["level"]?.string,
      verification: object["uv"]?.string)
  }

  private init(stage: Stage, deviceName: String?, level: String?, verification: String?) {
    self.stage = stage
    self.deviceName = deviceName
    self.level = level
    self.verification = verification
  }

  /// For a person; a phone's name is a stranger's text.
  var text: String {
    let name = deviceName.map { PrintableText.field($0, limit: 128) } ?? "a phone"
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

  init() {
    isTerminal = isatty(2) == 1
  }

  /// The code itself. Where no terminal shows it, or it is too narrow for it, the text that the code says.
  func show(_ uri: String) {
    guard Output.isTerminal, let code = QRCode(uri), let window = WindowSize(of: 1),
      window.columns >= code.terminalColumns
    else { return say(uri) }
    for line in code.terminalLines { say(line) }
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
    let line =
      status.stage == .active || status.stage == .refused
      ? status.text : "\(status.text) \(left / 60):\(digits)"
    guard line != shown else { return }
    // Remember the place, go up to the line and put the new one there, come back (ECMA-48; DECSC and DECRC).
    portcullis.tell(shown == nil ? "\(line)\n> " : "\u{1B}7\u{1B}[1A\r\u{1B}[K\(line)\u{1B}8")
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
    if isTerminal, shown != nil { portcullis.tell("\r\u{1B}[K") }
    complain(status.text)
  }
}
