/// The game's side of a session: its socket, and the player's bytes that wait for it.
package import Keeping
package import Sockets
internal import System

package struct BackendLeg: ~Copyable {
  package let socket: Socket
  package private(set) var unsent: SendQueue
  /// Nil unless the leg outlives the process.
  package var kept: PersistedLeg?
  /// On its way to the store, while its session has not begun.
  package var place: ReservedSlot?
  /// There may be bytes to read: set by the poller's report, cleared by a read that took all there was.
  package private(set) var mayHaveInput = false
  private var hasHangup = false
  /// The last read filled a slot.
  private var hasMuch = false

  package init(socket: consuming Socket) {
    self.socket = socket
    unsent = SendQueue()
  }

  /// One that outlived the process before.
  /// - Parameter waiting: what the game has not taken yet.
  package init(socket: consuming Socket, waiting: [UInt8], kept: PersistedLeg) {
    self.socket = socket
    unsent = SendQueue(waiting)
    self.kept = kept
  }

  deinit {
    kept?.end(socket)
    place?.end(socket)
  }

  /// The session begins, and is kept if it has a place.
  package mutating func begin(_ description: KeptDescription, _ progress: KeptProgress, changes: UInt32) {
    kept = place?.fill(description, progress, changes: changes)
    place = nil
  }

  /// The session begins, and is not kept: the store lets go of the leg, which stays open here.
  package mutating func giveUpPlace() {
    place?.giveUp()
    place = nil
  }

  package mutating func note(_ event: ReadyEvent) {
    if event.isReadable { mayHaveInput = true }
    if event.hasHangup { hasHangup = true }
    if event.isWritable { unsent.noteWritable() }
  }

  /// One read with room for a frame header before each slot (see `Socket.receive`): into the first slot, which most of what
  /// a game says fits in, and into all of them while it says much.
  package mutating func receive(into bytes: inout MutableSpan<UInt8>, gapBytes: Int, slotBytes: Int)
    -> ReceiveResult
  {
    let slots = hasMuch ? min(bytes.count / (gapBytes + slotBytes), Socket.slotLimit) : 1
    let result = socket.receive(into: &bytes, gapBytes: gapBytes, slotBytes: slotBytes, slots: slots)
    if case .bytes(let count) = result {
      hasMuch = count >= slotBytes
      // A short read took all there was, unless the end is already on its way.
      if count == slots * slotBytes || hasHangup { return result }
    }
    mayHaveInput = false
    return result
  }

  package mutating func send(_ bytes: Span<UInt8>) -> FlushResult {
    unsent.send(bytes, on: socket)
  }

  package mutating func resumeSending() -> FlushResult {
    unsent.resume(on: socket)
  }

  package mutating func sendOnce(_ bytes: Span<UInt8>) -> FlushResult {
    unsent.sendOnce(bytes, on: socket)
  }

  package mutating func resumeOnce() -> FlushResult {
    unsent.resumeOnce(on: socket)
  }

  package mutating func takeProgress() -> Bool { unsent.takeProgress() }
}
