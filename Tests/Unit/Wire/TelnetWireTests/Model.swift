import System

@testable import TelnetWire

/// Telnet read plainly: a byte at a time, everything copied, nothing fast, and as little as can be kept in mind.
///
/// It shares no code with the engine beyond the names of what it finds.
final class Model {
  private(set) var happenings: [Happening] = []
  private(set) var output: [UInt8] = []
  private(set) var now: UInt64
  private let options: TelnetSettings
  private var app: ClientDescription?
  private var isAttached = true
  private var isLatin = false
  /// "game 1": the game echoes; "gate 24": the gate tells its terminal type.
  private var on: Set<String> = []
  /// The bytes of a command that is not whole yet.
  private var command: [UInt8] = []
  private var lastOfText: UInt8?
  private var typedSoFar: [UInt8] = []
  /// Seconds in which an option was agreed to again, since its last pause.
  private var again: [UInt8: [UInt64]] = [:]
  private var answers = 0
  private var lastAnswer: UInt64 = 0
  private var terminalTypesSaid = 0
  /// What waits for the app, in the order in which it is made up for.
  private var terminalTypesDue = 0
  private var environmentDue: [[UInt8]] = []
  private var isHelloDue = false

  init(_ options: TelnetSettings, _ app: ClientDescription?, now: UInt64) {
    self.options = options
    self.app = app
    self.now = now
  }

  func pass(_ nanoseconds: UInt64) { now += nanoseconds }

  private func say(_ words: String, _ text: String = "") {
    output += wire(words)
    output += text.utf8.flatMap { $0 == 255 ? [255, 255] : [$0] }
  }

  private func happen(_ event: TelnetEvent) { happenings.append(.event(event)) }

  // MARK: The game

  func hear(_ byte: UInt8) {
    command.append(byte)
    if command[0] != 255 {
      command = []
      return hearText(byte)
    }
    guard command.count > 1 else { return }
    switch command[1] {
    case 255:
      command = []
      hearText(255)
    case 251...254:
      guard command.count == 3 else { return }
      let verb = command[1]
      command = []
      negotiate(verb, byte)
    case 250:
      hearBody()
    default:
      command = []
      if byte == 249 || byte == 239 { happen(.prompt) }
    }
  }

  private func hearText(_ byte: UInt8) {
    let follows = lastOfText == 13
    lastOfText = byte
    if byte == 0, follows { return }
    if case .text(let before) = happenings.last {
      happenings[happenings.count - 1] = .text(before + [byte])
    } else {
      happenings.append(.text([byte]))
    }
  }

  /// From `IAC SB` on, whatever has come.
  private func hearBody() {
    var body: [UInt8] = []
    var index = 2
    while index < command.count {
      if command[index] != 255 {
        body.append(command[index])
        index += 1
      } else if index + 1 == command.count {
        return
      } else if command[index + 1] == 255 {
        body.append(255)
        index += 2
      } else {
        let rest = Array(command[index...])
        command = []
        if rest[1] == 240 {
          endBody(body)
        } else {
          happen(.dropped(.interrupted))
          for byte in rest { hear(byte) }
        }
        return
      }
    }
  }

  // MARK: Negotiation

  private func awaitAnswer() {
    if now < lastAnswer + 1_000_000_000, answers == 64 { now = lastAnswer + 1_000_000_000 }
    if now >= lastAnswer + 1_000_000_000 { answers = 0 }
    answers += 1
    lastAnswer = now
  }

  private func negotiate(_ verb: UInt8, _ option: UInt8) {
    let (isOffer, who) = (verb == 251 || verb == 253, verb == 251 || verb == 252 ? "game" : "gate")
    let name = "\(who) \(option)"
    let (yes, no) = who == "game" ? ("DO", "DONT") : ("WILL", "WONT")
    if !isOffer {
      if !on.contains(name) { return }
      awaitAnswer()
      on.remove(name)
      say("IAC \(no) \(option)")
      if name == "game 1" { happen(.echo(false)) }
      if option == 24 { terminalTypesDue = 0 }
      if option == 39 { environmentDue = [] }
      if option == 201, !on.contains("game 201"), !on.contains("gate 201") { isHelloDue = false }
      return
    }
    var wanted = ["game 1", "game 25", "game 42", "gate 24", "gate 31", "gate 39", "gate 42"]
    if options.agreesToSuppressGoAhead { wanted += ["game 3", "gate 3"] }
    if !options.refusesStructured { wanted += ["game 69", "gate 69", "game 70", "game 201", "gate 201"] }
    if !wanted.contains(name) {
      awaitAnswer()
      return say("IAC \(no) \(option)")
    }
    let wasOn = on.contains(name)
    if wasOn {
      let seconds = now / 1_000_000_000
      if let last = again[option]?.last, seconds - last > 60 { again[option] = [] }
      if again[option, default: []].count == 4 { return }
      awaitAnswer()
      // A pause may have passed while it waited.
      let later = now / 1_000_000_000
      if let last = again[option]?.last, later - last > 60 { again[option] = [] }
      again[option, default: []].append(later)
    } else {
      awaitAnswer()
    }
    let isNew = wasOn || !on.contains("game \(option)") && !on.contains("gate \(option)")
    on.insert(name)
    say("IAC \(yes) \(option)")
    switch option {
    case 1 where !wasOn: happen(.echo(true))
    case 24: terminalTypesSaid = 0
    case 31: saySize()
    case 69 where isNew: happen(.msdpAgreed)
    case 201 where isNew:
      happen(.gmcpAgreed)
      sayHello()
    default: break
    }
  }

  // MARK: Subnegotiations

  private func endBody(_ body: [UInt8]) {
    guard let option = body.first else { return }
    if body.count > 65_537 { return happen(.dropped(.tooLong)) }
    guard on.contains("game \(option)") || on.contains("gate \(option)") else { return }
    let rest = Array(body.dropFirst())
    switch option {
    case 24:
      awaitAnswer()
      if rest.first == 1 { sayTerminalType() }
    case 39:
      awaitAnswer()
      if rest.first == 1 { sayEnvironment(Array(rest.dropFirst())) }
    case 42:
      awaitAnswer()
      if rest.first == 1 { chooseCharset(Array(rest.dropFirst())) }
    case 69: happenings.append(Samples.msdp[rest].map { .msdp($0) } ?? .event(.dropped(.malformed)))
    case 70: happenings.append(Samples.mssp[rest].map { .mssp($0) } ?? .event(.dropped(.malformed)))
    case 201: hearGMCP(String(decoding: rest, as: UTF8.self))
    default: break
    }
  }

  private func hearGMCP(_ text: String) {
    let parts = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let isName =
      !parts[0].isEmpty && parts[0].utf8.count <= 128 && parts[0].utf8.allSatisfy { $0 > 32 && $0 < 127 }
    guard isName else { return happen(.dropped(.malformed)) }
    guard parts.count > 1, !parts[1].isEmpty else { return happenings.append(.gmcp(parts[0], nil)) }
    let isJSON = Samples.json.contains(parts[1])
    happenings.append(.gmcp(parts[0], isJSON ? parts[1] : "\"\(parts[1])\""))
  }

  private var mtts: Int {
    2697 + (isLatin ? 0 : 4) + (app?.isScreenReader == true ? 64 : 0) + (app?.hasTrueColor == true ? 256 : 0)
  }

  private func text(_ text: ClientText?, _ other: String) -> String {
    text.map { String(decoding: $0.bytes, as: UTF8.self) } ?? other
  }

  private var terminal: String {
    text(app?.terminal, app?.hasTrueColor == true ? "XTERM-TRUECOLOR" : "XTERM-256COLOR")
  }

  private func sayTerminalType() {
    guard let app else {
      terminalTypesDue = min(4, terminalTypesDue + 1)
      return
    }
    let names = [text(app.name, "PORTCULLIS"), terminal, "MTTS \(mtts)"]
    say("IAC SB 24 0 '\(names[min(2, terminalTypesSaid)])' IAC SE")
    terminalTypesSaid += 1
  }

  private var variables: [(String, String?)] {
    [
      ("IPADDRESS", options.address.map { String(decoding: $0, as: UTF8.self) }),
      ("CLIENT_NAME", text(app?.name, "PORTCULLIS")),
      ("CLIENT_VERSION", app?.version.map { String(decoding: $0.bytes, as: UTF8.self) }),
      ("TERMINAL_TYPE", terminal), ("MTTS", "\(mtts)"), ("CHARSET", isLatin ? "ISO-8859-1" : "UTF-8"),
      ("CLIENT_STATE", isAttached ? "attached" : "detached"),
    ]
  }

  /// Names of plain letters are all it is asked for.
  private func sayEnvironment(_ question: [UInt8]) {
    if app == nil { return environmentDue.append(question.isEmpty ? [0, 3] : question) }
    let question = question.isEmpty ? [0, 3] : question
    say("IAC SB 39 0")
    var rest = question[...]
    while let kind = rest.popFirst() {
      let name = String(decoding: rest.prefix { $0 > 3 }, as: UTF8.self)
      rest = rest.drop { $0 > 3 }
      let device = ("PORTCULLIS_DEVICE", options.device.map { String(decoding: $0, as: UTF8.self) })
      let known = kind == 0 ? variables : [device]
      for (variable, value) in known where name.isEmpty {
        if let value { say("\(kind) '\(variable)' 1 '\(value)'") }
      }
      if name.isEmpty { continue }
      say("\(kind) '\(name)'")
      if let value = known.first(where: { $0.0 == name })?.1 { say("1 '\(value)'") }
    }
    say("IAC SE")
  }

  private func tell(_ before: [(String, String?)]) {
    let changed = zip(before, variables).filter { $0.1 != $1.1 }.map(\.1)
    if !on.contains("gate 39") || changed.isEmpty { return }
    say("IAC SB 39 2")
    for (name, value) in changed {
      say("0 '\(name)'")
      if let value { say("1 '\(value)'") }
    }
    say("IAC SE")
  }

  private func chooseCharset(_ list: [UInt8]) {
    let offers = list.dropFirst().split(separator: list.first ?? 0).map {
      String(decoding: $0, as: UTF8.self)
    }
    let known = offers.filter { ["utf-8", "iso-8859-1", "latin1"].contains($0.lowercased()) }
    guard let choice = known.first(where: { $0.lowercased() == "utf-8" }) ?? known.first else {
      return say("IAC SB 42 3 IAC SE")
    }
    say("IAC SB 42 2 '\(choice)' IAC SE")
    let before = variables
    isLatin = choice.lowercased() != "utf-8"
    if app != nil { tell(before) }
    happen(.charset(Array((isLatin ? "ISO-8859-1" : "UTF-8").utf8)))
  }

  private func saySize() {
    guard on.contains("gate 31"), let size = app?.size else { return }
    let bytes = [size.columns / 256, size.columns % 256, size.rows / 256, size.rows % 256]
    say("IAC SB 31")
    for byte in bytes { say(byte == 255 ? "255 255" : "\(byte)") }
    say("IAC SE")
  }

  private func sayHello() {
    guard let app else {
      isHelloDue = true
      return
    }
    isHelloDue = false
    let hello = #"{"client":"\#(text(app.name, "PORTCULLIS"))","version":"\#(text(app.version, ""))"}"#
    say("IAC SB 201 'Core.Hello \(hello)' IAC SE")
    saySupports()
    if !isAttached { sayLink() }
  }

  private func saySupports() {
    guard let packages = app?.gmcp else { return }
    let list = packages.map { "\"" + String(decoding: $0, as: UTF8.self) + "\"" }.joined(separator: ",")
    say("IAC SB 201 'Core.Supports.Set [\(list)]' IAC SE")
  }

  private func sayLink() {
    if !on.contains("game 201") && !on.contains("gate 201") { return }
    say(#"IAC SB 201 'Portcullis.Link {"state":"\#(isAttached ? "attached" : "detached")"}' IAC SE"#)
  }

  // MARK: The app

  func update(_ new: ClientDescription) {
    let (old, before) = (app, variables)
    app = new
    for _ in 0..<terminalTypesDue { sayTerminalType() }
    terminalTypesDue = 0
    if !environmentDue.isEmpty { sayEnvironment(environmentDue.flatMap { $0 }) }
    environmentDue = []
    if old != nil { tell(before) }
    if old?.size != new.size { saySize() }
    if isHelloDue {
      sayHello()
    } else if old?.gmcp != new.gmcp, on.contains("game 201") || on.contains("gate 201") {
      saySupports()
    }
  }

  func link(_ isAttached: Bool) {
    if self.isAttached == isAttached { return }
    let before = variables
    self.isAttached = isAttached
    if app != nil { tell(before) }
    sayLink()
  }

  /// What all that was typed so far becomes, without what it was before.
  func type(_ text: [UInt8]) {
    let before = Self.lines(typedSoFar).count
    typedSoFar += text.filter { $0 != 0 }
    output += Self.lines(typedSoFar).dropFirst(before)
  }

  private static func lines(_ text: [UInt8]) -> [UInt8] {
    var lines: [UInt8] = []
    for (index, byte) in text.enumerated() {
      switch byte {
      case 13: lines += [13, 10]
      case 10 where index > 0 && text[index - 1] == 13: break
      case 10: lines += [13, 10]
      case 255: lines += [255, 255]
      default: lines.append(byte)
      }
    }
    return lines
  }
}

/// Bodies whose meaning is known beforehand.
enum Samples {
  static let json = ["1", "{}", #"{"hp":1,"a":[null,"x"]}"#, #""text""#, "[[],{}]"]
  static let notJSON = ["plain", "{", "01", "[1"]
  static let names = ["A", "Char.Vitals", "Core.Ping"]

  static let msdp: [[UInt8]: String] = [
    []: "{}",
    wire("1 'HP' 2 '10'"): #"{"HP":"10"}"#,
    wire("1 'A' 2 'x' 2 'y'"): #"{"A":["x","y"]}"#,
    wire("1 'T' 2 3 1 'B' 2 5 2 '1' 6 4"): #"{"T":{"B":["1"]}}"#,
  ]
  static let mssp: [[UInt8]: String] = [
    []: "{}",
    wire("1 'NAME' 2 'Mud'"): #"{"NAME":"Mud"}"#,
    // Broken in MSDP.
    wire("1 'A' 2 3"): #"{"A":"\u0003"}"#,
  ]
  static let broken: [[UInt8]] = [wire("2 'x'"), wire("1 'A' 2 3"), wire("'x'")]
}
