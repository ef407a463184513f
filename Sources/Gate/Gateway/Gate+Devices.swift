/// What ends with a device, a key or an order of the registry, and when it has ended: for whoever waits for that, from any
/// thread but a loop's or the registry's.
internal import KeyStore
internal import System

extension Gate {
  package enum DeviceSettling: Equatable, Sendable {
    case settled
    /// A loop does not answer in time.
    case silent
    /// Sessions have ended, but not every App Attest key is on the disk as revoked.
    case notWritten
  }

  /// Where the door stands, for `settleDevices`: to be asked before what is ordered.
  package var deviceMark: Int { shared.devices?.door.revokedKeyCount ?? 0 }

  /// Returns when what the registry has told the loops so far has come true: sessions of devices that are gone, and of keys
  /// that went with them, have ended, and keys that went since then are revoked for good.
  package func settleDevices(since mark: Int) -> DeviceSettling {
    // A key is revoked by one loop, which tells the others; and a session may be on its way between two (`revoke`).
    for _ in 0..<4 where !waitForLoops() { return .silent }
    guard let door = shared.devices?.door,
      !door.areKeysRevoked(since: mark, within: CommitResult.deadline)
    else { return .settled }
    return .notWritten
  }
}
