/// What ends with a device, a key or an order of the registry, and when it has ended: for whoever waits for that, from any
/// thread but a loop's or the registry's.
internal import System

extension Gate {
  /// Returns when what the registry has told the loops so far has come true: sessions of devices that are gone, and of keys
  /// that went with them, have ended.
  /// - Returns: false when a loop does not answer in time.
  @discardableResult
  package func settleDevices() -> Bool {
    // A key is revoked by one loop, which tells the others; and a session may be on its way between two (`revoke`).
    for _ in 0..<4 where !waitForLoops() { return false }
    return true
  }
}
