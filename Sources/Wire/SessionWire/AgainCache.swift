/// The state of the game that can be said again (docs/sessions.md, "State again"): whether it echoes, and the last
/// values of GMCP packages, MSDP variables and MSSP.
///
/// What is newest stays: beyond a limit the value goes that was not renewed for the longest time. A value is kept whole
/// or not at all, and one that is too large takes the older one of its name with it, as that is no longer true.
internal import Bytes
internal import JSON
internal import PortcullisProtocol
package import TelnetWire

package struct AgainCache: Sendable {
  package static let packageLimit = 32
  package static let byteLimit = 16 * 1024
  /// What a value costs beside its bytes.
  static let overhead = 64

  /// Which GMCP packages are kept.
  private let selection: AgainSelection
  private let limit: Int
  private var echo = false
  var isEchoing: Bool { echo }
  private(set) var entries = AgainEntries()
  /// What the values take, with what they cost beside.
  package var bytes: Int { entries.bytes }

  /// - Parameter bufferBytes: `SESSION_BUFFER`, of which the cache takes a quarter at most.
  package init(_ selection: AgainSelection, bufferBytes: Int) {
    self.selection = selection
    limit = min(Self.byteLimit, bufferBytes / 4)
  }

  // MARK: What the game says

  /// Only some events are of interest here.
  package mutating func note(_ event: TelnetEvent) {
    switch event {
    case .echo(let isOn): noteEcho(isOn)
    case .gmcp(let package, let data): noteGMCP(package: package.span, data: data?.span)
    case .gmcpAgreed: forgetGMCP()
    case .msdpAgreed: forgetMSDP()
    case .msdp(let data): noteMSDP(data: data.span)
    case .mssp(let data): noteMSSP(data: data.span)
    case .needMore, .again, .waits, .text, .prompt, .charset, .compressionStarted,
      .compressionEnded, .compressionFailed, .dropped:
      break
    }
  }

  package mutating func noteEcho(_ isOn: Bool) { echo = isOn }

  package mutating func noteGMCP(package name: Span<UInt8>, data: Span<UInt8>?) {
    guard selection.takes(name) else { return }
    keep(.gmcp, name, data)
  }

  /// - Parameter data: an object, whose members are kept one by one.
  package mutating func noteMSDP(data: Span<UInt8>) {
    var members: [(name: Range<Int>, value: Range<Int>)] = []
    var reader = JSONReader(data, depthLimit: Self.depthLimit)
    do throws(JSONError) {
      try reader.enterObject()
      while let name = try reader.nextMember() { members.append((name.range, try reader.skipValue())) }
      for member in newest(of: members) {
        keep(.msdp, data.extracting(member.name), data.extracting(member.value))
      }
    } catch {
      // Of what this gate has written itself; if it were no object, there would be nothing to say again.
      return
    }
  }

  /// As many of the last ones as fill all the room there is, however many came before: those would all go again.
  private func newest(
    of members: [(name: Range<Int>, value: Range<Int>)]
  ) -> ArraySlice<(name: Range<Int>, value: Range<Int>)> {
    var first = members.count
    var taken = 0
    while first > 0, taken <= limit {
      first -= 1
      let cost = members[first].name.count + members[first].value.count + Self.overhead
      if cost <= limit { taken += cost }
    }
    return members[first...]
  }

  package mutating func noteMSSP(data: Span<UInt8>) {
    keep(.mssp, data.extracting(0..<0), data)
  }

  /// The game agrees to GMCP anew: what it said before is no longer meant.
  package mutating func forgetGMCP() { entries.removeAll(.gmcp) }

  /// The same of MSDP.
  package mutating func forgetMSDP() { entries.removeAll(.msdp) }

  // MARK: What the app is told

  /// The payloads of the messages that say it, in the order in which they go.
  package func messages() -> [[UInt8]] {
    var messages = [Self.message { GateMessage.echo(echo, again: true, to: &$0) }]
    entries.each(.gmcp) { entry in
      messages.append(
        Self.message {
          GateMessage.gmcp(
            package: entry.name, data: entry.hasData ? entry.data : nil, again: true, to: &$0)
        })
    }
    if let variables = variables() {
      messages.append(
        Self.message { GateMessage.variables(.msdp, data: variables.span, again: true, to: &$0) })
    }
    entries.each(.mssp) { entry in
      messages.append(Self.message { GateMessage.variables(.mssp, data: entry.data, again: true, to: &$0) })
    }
    return messages
  }

  /// Those of MSDP as one object.
  private func variables() -> [UInt8]? {
    var object: [UInt8] = []
    entries.each(.msdp) { entry in
      object.append(UInt8(ascii: object.isEmpty ? "{" : ","))
      // As it stood between its quotes, escapes and all.
      object.append(UInt8(ascii: "\""))
      object.append(copying: entry.name)
      object.append(contentsOf: "\":".utf8)
      object.append(copying: entry.data)
    }
    if object.isEmpty { return nil }
    object.append(UInt8(ascii: "}"))
    return object
  }

  private static func message(_ write: (inout [UInt8]) -> Void) -> [UInt8] {
    var bytes: [UInt8] = []
    write(&bytes)
    return bytes
  }

  // MARK: Keeping

  mutating func keep(_ kind: AgainEntries.Kind, _ name: Span<UInt8>, _ data: Span<UInt8>?) {
    entries.remove(kind, name)
    let cost = name.count + (data?.count ?? 0) + Self.overhead
    guard cost <= limit else { return }
    if kind == .gmcp, entries.packages == Self.packageLimit { entries.removeOldestPackage() }
    while bytes + cost > limit { entries.removeOldest() }
    entries.append(AgainEntries.Entry(kind, name, data))
  }

  /// More than what MSDP's values have.
  private static let depthLimit = 16
}
