/// What an app types and says of itself, on its way to the game.
internal import Bytes

extension TelnetEngine {
  // MARK: Typing

  /// Lines end with CR LF, however they ended; a LF directly behind a CR belongs to it, across calls too. NUL is left
  /// out, 255 doubled.
  ///
  /// - Parameters:
  ///   - text: in the game's charset.
  ///   - endsLine: whether it gets a line end if it has none of its own.
  package mutating func type(_ text: Span<UInt8>, endsLine: Bool = false, into output: inout [UInt8]) {
    var position = 0
    while position < text.count {
      let end = TelnetScan.endOfTyped(text, from: position)
      if end > position {
        output.append(copying: text.extracting(position..<end))
        state.appTypedCR = false
      }
      position = end + 1
      guard end < text.count else { break }
      let byte = text[end]
      switch byte {
      case TelnetByte.cr: appendLineEnd(isCR: true, &output)
      case TelnetByte.lf where state.appTypedCR: state.appTypedCR = false
      case TelnetByte.lf: appendLineEnd(isCR: false, &output)
      case TelnetByte.iac:
        output.append(byte)
        output.append(byte)
        state.appTypedCR = false
      default: break
      }
    }
    if endsLine, !Self.hasLineEnd(text) { appendLineEnd(isCR: false, &output) }
  }

  /// Whether the last of what is not left out is one.
  private static func hasLineEnd(_ text: Span<UInt8>) -> Bool {
    var end = text.count
    while end > 0, text[end - 1] == TelnetByte.null { end -= 1 }
    return end > 0 && (text[end - 1] == TelnetByte.cr || text[end - 1] == TelnetByte.lf)
  }

  private mutating func appendLineEnd(isCR: Bool, _ output: inout [UInt8]) {
    output.append(TelnetByte.cr)
    output.append(TelnetByte.lf)
    state.appTypedCR = isCR
  }

  /// So that nothing between gate and game forgets a connection on which nothing is said.
  package func keepAlive(into output: inout [UInt8]) {
    output.append(TelnetByte.iac)
    output.append(TelnetByte.nop)
  }

  // MARK: Who it is

  /// The first description lets go what waited for it; a later one is told where it differs.
  package mutating func update(_ new: ClientDescription, into output: inout [UInt8]) {
    let old = client
    let oldSize = size
    let before = environmentInUse
    client = new
    // The later word decides.
    if new.gmcp != nil, old?.gmcp != new.gmcp { ownWords.supports = nil }
    sayTerminalTypesDue(&output)
    sayEnvironmentDue(&output)
    sayEnvironmentChanges(since: before, &output)
    if size != oldSize { sayWindowSize(&output) }
    if state.isHelloDue {
      sayHello(&output)
    } else if isGMCPAgreed, old?.gmcp != new.gmcp {
      saySupports(&output)
    }
  }

  /// The size alone, also before anything else is known.
  package mutating func resize(_ new: TerminalSize, into output: inout [UInt8]) {
    guard size != new else { return }
    if client == nil { earlySize = new } else { client?.size = new }
    sayWindowSize(&output)
  }

  /// Whether a connection carries the session, and where it comes from; the game is told when that changes.
  /// - Parameter address: nil leaves what is known, as it does where no address is told to the game.
  package mutating func link(isAttached: Bool, address: [UInt8]? = nil, into output: inout [UInt8]) {
    let before = environmentInUse
    let hasChanged = state.isAttached != isAttached
    if settings.address != nil, let address { settings.address = address }
    state.isAttached = isAttached
    sayEnvironmentChanges(since: before, &output)
    if hasChanged { sayLink(&output) }
  }
}
