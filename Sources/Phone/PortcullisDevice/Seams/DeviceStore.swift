/// The seam between a device and the place where it is remembered between two starts of the app.

/// Why nothing comes out of a store, though something may be there.
public enum DeviceStoreError: Error, Equatable, Sendable {
  /// For now, as in the Keychain before the first unlock after a start of the phone.
  case locked
  /// Made by a later version of the app: it is left as it is.
  case later
  /// What is there is no record, or cannot be read at all; why, in a sentence.
  case broken(String)
}

/// Where a `DeviceRecord` lies: in the Keychain, or in a file that others cannot read. `cannot read` is never `nothing there`:
/// whatever a store throws, nothing is made in its place.
public protocol DeviceStore: Sendable {
  /// What was saved last; nil: there is nothing.
  func load() async throws -> DeviceRecord?

  /// Keeps it in place of what was there, whole or not at all.
  func save(_ record: DeviceRecord) async throws

  /// Leaves nothing.
  func erase() async throws
}
