/// Reads a file of a policy, for a gate and for the commands that look at one: what is wrong with it is told, and the status
/// is 78.
import ApprovalPolicy
import ArgumentParser
import Bytes
import Configuration

enum PolicyFile {
  private static let largest = 1 << 20

  /// - Parameter name: as it is told: a setting with its value, or a path.
  static func read<Policy>(
    _ path: String, named name: String, tell: Startup.Teller = { complain($0) },
    _ parse: (Span<UInt8>) throws(PolicyFailure) -> Policy
  ) throws -> Policy {
    let bytes: [UInt8]
    do {
      bytes = try SystemFiles().contents(of: path, limit: largest)
    } catch {
      tell("\(name) cannot be read: \(error); correct the path or the file's owner and mode")
      throw ExitStatus.configuration.code
    }
    do throws(PolicyFailure) {
      return try parse(bytes.span)
    } catch {
      for problem in error.problems { tell("\(name): \(problem)") }
      throw ExitStatus.configuration.code
    }
  }
}
