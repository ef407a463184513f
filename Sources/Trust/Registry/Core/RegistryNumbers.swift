/// How many devices, requests and codes there are, and what became of them since the start: for docs/metrics.md.
internal import Synchronization

package struct RegistryNumbers: Equatable, Sendable {
  package static let deviceStates = DeviceRecord.State.allCases
  package static let approvalStates = ApprovalRecord.State.allCases
  package static let codeStates = CodeChallenge.State.allCases

  /// By state, in the order of `deviceStates`.
  package internal(set) var devices = [Int](repeating: 0, count: deviceStates.count)
  package internal(set) var approvals = [Int](repeating: 0, count: approvalStates.count)
  /// How often a request came to this state since the start.
  package internal(set) var approvalsDecided = [Int](repeating: 0, count: approvalStates.count)
  package internal(set) var codes = [Int](repeating: 0, count: codeStates.count)
  package internal(set) var codesEnded = [Int](repeating: 0, count: codeStates.count)

  /// Of the file and its log.
  package internal(set) var bytes: Int64 = 0

  /// Of a gate without devices.
  package init() {}
}

/// The registry's thread writes them, a scrape reads them.
final class PublishedNumbers: Sendable {
  private let numbers = Mutex(RegistryNumbers())

  var value: RegistryNumbers { numbers.withLock { $0 } }

  func publish(_ new: RegistryNumbers) { numbers.withLock { $0 = new } }
}
