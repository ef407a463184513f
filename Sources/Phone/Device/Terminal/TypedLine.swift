/// The line that is being typed: what keys make of it, byte by byte as they come, and the lines before it.
struct TypedLine {
  enum Key: Equatable {
    case none
    /// The text has changed; what was drawn of the old one has to go.
    case changed
    /// So much was added at its end.
    case added(String)
    /// Return was pressed.
    case entered(String)
    /// Control-D in an empty line.
    case end
  }

  private enum Escape { case none, begun, control }

  private(set) var text = ""
  /// What is hidden is not to be brought back either.
  var isHidden = false
  private var character: [UInt8] = []
  private var escape = Escape.none
  private var earlier: [String] = []
  /// Which of the earlier ones is shown; their count: none.
  private var shown = 0

  private static let earlierLimit = 100
  /// Below what a gate takes in one message.
  private static let longest = 4_096

  mutating func press(_ byte: UInt8) -> Key {
    switch escape {
    case .none: break
    case .begun:
      // CSI, or SS3 as some terminals send arrows.
      escape = byte == UInt8(ascii: "[") || byte == UInt8(ascii: "O") ? .control : .none
      return .none
    case .control:
      guard (0x40...0x7E).contains(byte) else { return .none }
      escape = .none
      switch byte {
      case UInt8(ascii: "A"): return recall(shown - 1)
      case UInt8(ascii: "B"): return recall(shown + 1)
      default: return .none
      }
    }
    switch byte {
    case 0x0A, 0x0D: return enter()
    case 0x04: return text.isEmpty ? .end : .none
    case 0x08, 0x7F: return change { _ = $0.popLast() }
    case 0x15: return change { $0 = "" }
    case 0x17: return change(Self.removeWord)
    case 0x1B:
      escape = .begun
      return .none
    case 0..<0x20: return .none
    default: return add(byte)
    }
  }

  private mutating func add(_ byte: UInt8) -> Key {
    // A character that is broken off by the start of another one is gone.
    if byte & 0xC0 != 0x80 { character = [] }
    character.append(byte)
    guard character.count <= 4, text.utf8.count < Self.longest else {
      character = []
      return .none
    }
    guard let added = String(validating: character, as: UTF8.self) else { return .none }
    character = []
    text += added
    return .added(added)
  }

  private mutating func enter() -> Key {
    defer {
      text = ""
      character = []
      shown = earlier.count
    }
    if !isHidden, !text.isEmpty, earlier.last != text {
      earlier.append(text)
      if earlier.count > Self.earlierLimit { earlier.removeFirst() }
    }
    return .entered(text)
  }

  private mutating func recall(_ index: Int) -> Key {
    guard !isHidden, (0...earlier.count).contains(index), index != shown else { return .none }
    shown = index
    let text = index < earlier.count ? earlier[index] : ""
    return change { $0 = text }
  }

  private mutating func change(_ body: (inout String) -> Void) -> Key {
    character = []
    let before = text
    body(&text)
    return text == before ? .none : .changed
  }

  private static func removeWord(_ text: inout String) {
    while text.last == " " { text.removeLast() }
    while let last = text.last, last != " " { text.removeLast() }
  }
}
