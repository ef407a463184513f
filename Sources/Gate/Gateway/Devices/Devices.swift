/// What a gate with devices has beside its loops: the registry, and what the door knows of it.
package import Registry

package struct Devices: Sendable {
  package let registry: Registry
  /// The registry's listener.
  package let door: DeviceDoor

  package init(registry: Registry, door: DeviceDoor) {
    self.registry = registry
    self.door = door
  }
}
