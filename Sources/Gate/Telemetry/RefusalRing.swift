/// The last refusals, for an operator who asks why somebody does not come in (docs/console.md, "Console"). They are in
/// memory alone, and end with the process.
package import Addresses
package import Bytes
internal import DeviceWire
internal import HTTPWire
package import PortcullisProtocol
internal import Synchronization
package import Time

/// One of them: what the log says of it, less what only a line of the log is good for.
package struct RefusalEntry: Equatable, Sendable {
  /// Its place in the order of all; the first of this process is 1.
  package let number: Int
  package let at: UnixTime
  package let code: RefusalCode
  /// The rule that was broken: a word of the program's own.
  package let step: String
  package let keyID: KeyIdentifier?
  /// Of an upgrade that names one; by the peer's own words.
  package let deviceID: DeviceID?
  /// What was asked for, in words of the program's own; nil where nothing counts it.
  package let asked: String?
  /// The name of a request about devices, which a client may have chosen: at most 64 characters of a token (RFC 9110 §5.6.2).
  package var trace: String? { peer.trace?.text }
  package var source: Endpoint { peer.source }
  /// As the log names it.
  package var connection: String { peer.text }
  package let peer: PeerName

  package init(
    number: Int, at: UnixTime, code: RefusalCode, step: String, keyID: KeyIdentifier?,
    deviceID: DeviceID? = nil, asked: String?, peer: PeerName
  ) {
    self.number = number
    self.at = at
    self.code = code
    self.step = step
    self.keyID = keyID
    self.deviceID = deviceID
    self.asked = asked
    self.peer = peer
  }
}

/// A thousand entries, and up to one block more: below 300 KiB with all that they name.
///
/// Loops write, under one lock that each holds for an assignment. A reader holds it for one as well, as it takes the
/// blocks and copies nothing; the next refusal then copies one block of them. So a thread that lost its processor while it
/// made a page keeps no loop.
package final class RefusalRing: Sendable {
  package static let kept = 1000
  private static let blockLength = 50
  private static let blocks = kept / blockLength + 1

  private struct Content {
    /// Oldest first; all but the last are full.
    var blocks: [[RefusalEntry]] = []
    var last = 0
  }

  private let content = Mutex(Content())

  package init() {}

  package func note(_ entry: (_ number: Int) -> RefusalEntry) {
    content.withLock { content in
      content.last += 1
      let entry = entry(content.last)
      if let end = content.blocks.indices.last, content.blocks[end].count < Self.blockLength {
        content.blocks[end].append(entry)
        return
      }
      if content.blocks.count == Self.blocks { content.blocks.removeFirst() }
      var block: [RefusalEntry] = []
      block.reserveCapacity(Self.blockLength)
      block.append(entry)
      content.blocks.append(block)
    }
  }

  /// The latest first, a thousand at most.
  package var latest: [RefusalEntry] {
    let blocks = content.withLock { $0.blocks }
    var entries: [RefusalEntry] = []
    entries.reserveCapacity(Self.kept)
    for block in blocks.reversed() {
      for entry in block.reversed() where entries.count < Self.kept { entries.append(entry) }
    }
    return entries
  }
}
