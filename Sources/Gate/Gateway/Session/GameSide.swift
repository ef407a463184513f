/// The game's side of a session, in one struct, so that a turn has one check for exclusive access to all of it.
internal import Bytes
internal import Conversation
internal import Scheduling
internal import Sockets
internal import System
internal import Telemetry
internal import Upstream
internal import WebSocketWire

struct GameSide: ~Copyable {
  /// Nil before the game is called, with `BACKEND=echo:`, and once the game was cut off.
  var leg: BackendLeg?
  /// What the gate speaks for both sides; nil where bytes pass as they come.
  var conversation: SessionConversation?
  /// In text mode: code points that the game has not finished.
  var text: TextRepair?
  var bytesFromPlayer: UInt64 = 0
  var bytesFromGame: UInt64 = 0
  /// What of them a loop has counted.
  private var countedFromPlayer: UInt64 = 0
  private var countedFromGame: UInt64 = 0

  init() {}

  /// One that outlived the process before, in which so much went through.
  init(bytesFromPlayer: UInt64, bytesFromGame: UInt64) {
    (self.bytesFromPlayer, countedFromPlayer) = (bytesFromPlayer, bytesFromPlayer)
    (self.bytesFromGame, countedFromGame) = (bytesFromGame, bytesFromGame)
  }

  /// Has the loop count what went through since it did so last.
  @inline(__always)
  mutating func countBytes(in counters: Counters) {
    if bytesFromPlayer != countedFromPlayer {
      counters.bytesFromPlayers.add(Int(truncatingIfNeeded: bytesFromPlayer &- countedFromPlayer))
      countedFromPlayer = bytesFromPlayer
    }
    if bytesFromGame != countedFromGame {
      counters.bytesFromGame.add(Int(truncatingIfNeeded: bytesFromGame &- countedFromGame))
      countedFromGame = bytesFromGame
    }
  }

  mutating func note(_ event: ReadyEvent) {
    leg?.note(event)
  }

  /// Its events are another loop's from now on.
  func leave(_ poller: borrowing Poller) {
    switch leg {
    case .some(let leg): poller.remove(leg.socket)
    case nil: break
    }
  }

  /// Whatever is true of the leg is reported anew. One that cannot be registered is lost.
  mutating func enter(_ poller: borrowing Poller, token: Token) {
    do throws(SystemError) {
      switch leg {
      case .some(let leg): try poller.add(leg.socket, token: token.rawValue)
      case nil: break
      }
    } catch {
      leg = nil
    }
  }

  /// Messages of the player are read whole, and not passed on as they come.
  var readsMessages: Bool { conversation != nil || leg == nil }

  /// The game has not taken yet what the player sent.
  var waits: Bool { queued > 0 }

  var queued: Int {
    switch leg {
    case .some(let leg): leg.unsent.count
    case nil: 0
    }
  }

  var mayHaveInput: Bool {
    switch leg {
    case .some(let leg): leg.mayHaveInput
    case nil: false
    }
  }

  mutating func takeProgress() -> Bool { leg?.takeProgress() ?? false }
}
