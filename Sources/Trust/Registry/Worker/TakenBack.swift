/// Requests that nobody waits for any more, and that may still be in the queue.

struct TakenBack {
  /// One that is forgotten is served for nobody, which harms nobody; a queue that is never empty must not fill the memory.
  static let capacity = 4096

  private var handles: Set<RequestHandle> = []
  var count: Int { handles.count }

  mutating func add(_ handle: RequestHandle) {
    if handles.count >= Self.capacity { handles = [] }
    handles.insert(handle)
  }

  /// Whether it was, once.
  mutating func take(_ handle: RequestHandle) -> Bool { handles.remove(handle) != nil }

  /// Nothing is queued any more.
  mutating func clear() { handles = [] }
}
