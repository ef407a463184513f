/// Reads a file of a policy, for a gate and for the commands that look at one: what is wrong with it is told, and the status
/// is 78.
package import ApprovalPolicy
import Bytes
import Configuration
import Prompt
package import Risk

package enum PolicyFile {
  private static let largest = 1 << 20

  package static func approvals(_ path: String, named name: String) throws -> ApprovalPolicy {
    try read(path, named: name) { (bytes) throws(PolicyFailure) in try ApprovalPolicy(parsing: bytes) }
  }

  package static func assurance(_ path: String, named name: String) throws -> AssurancePolicy {
    try read(path, named: name) { (bytes) throws(PolicyFailure) in try AssurancePolicy(parsing: bytes) }
  }

  package static func risk(_ path: String, named name: String) throws -> RiskPolicy {
    try read(path, named: name) { (bytes) throws(PolicyFailure) in try RiskPolicy(parsing: bytes) }
  }

  /// - Parameter name: as it is told: a setting with its value, or a path.
  static func read<Policy>(
    _ path: String, named name: String, tell: Teller = { complain($0) },
    _ parse: (Span<UInt8>) throws(PolicyFailure) -> Policy
  ) throws -> Policy {
    let bytes: [UInt8]
    do {
      bytes = try SystemFiles().contents(of: path, limit: largest)
    } catch {
      tell("\(name) cannot be read: \(error); correct the path or the file's owner and mode")
      throw ExitStatus.configuration
    }
    do throws(PolicyFailure) {
      return try parse(bytes.span)
    } catch {
      for problem in error.problems { tell("\(name): \(problem)") }
      throw ExitStatus.configuration
    }
  }
}
