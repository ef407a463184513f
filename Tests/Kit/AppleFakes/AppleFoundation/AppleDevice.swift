/// The phone that the fakes are parts of: a test has one of its own, and finds there what it has scripted.
internal import Synchronization

/// What a module of the fakes keeps on a phone.
package protocol DevicePart: AnyObject, Sendable {
  init()
}

package final class AppleDevice: Sendable {
  /// Tasks that a test begins inside of `run` are on its phone; others share one.
  private static let scope = TaskLocal(wrappedValue: AppleDevice())
  package static var current: AppleDevice { scope.get() }

  private let parts = Mutex<[ObjectIdentifier: any DevicePart]>([:])

  package init() {}

  /// What `body` asks of Apple's frameworks, it asks of this phone.
  @discardableResult
  package func run<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
  ) async rethrows -> Result {
    try await Self.scope.withValue(self, operation: body)
  }

  /// The same for what a framework calls, on a queue of its own.
  package func call(_ body: () -> Void) { Self.scope.withValue(self, operation: body) }

  package subscript<Part: DevicePart>(part: Part.Type) -> Part {
    parts.withLock { parts in
      if let part = parts[ObjectIdentifier(part)] as? Part { return part }
      let part = Part()
      parts[ObjectIdentifier(Part.self)] = part
      return part
    }
  }
}
