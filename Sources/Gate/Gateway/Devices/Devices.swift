/// What a gate with devices has beside its loops: the registry, and what the door knows of it.
package import Registry
package import System

package struct Devices: Sendable {
  package let registry: Registry
  /// The registry's listener.
  package let door: DeviceDoor
  package let android: AndroidEvidence

  package init(registry: Registry, door: DeviceDoor, android: AndroidEvidence = AndroidEvidence()) {
    self.registry = registry
    self.door = door
    self.android = android
  }

  /// The list of revoked certificates is looked at, and what has changed in it comes true.
  package func attendRevocations(now: UnixTime) {
    android.revocations.attend(android.current, registry, now: now, door.log)
  }
}
