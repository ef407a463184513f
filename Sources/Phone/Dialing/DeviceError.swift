/// Why a simulated device could not do its part, before any server had a say.
package import Crypto
package import System

package enum DeviceError: Error, Equatable, Sendable, CustomStringConvertible {
  case file(SystemError)
  case issuing(IssuingError)
  /// The file is there but does not hold what it should.
  case unusable(path: String, reason: String)
  /// A key signs at most 2³²−1 assertions.
  case counterExhausted
  /// Files that are there already stay, unless overwriting was asked for.
  case exists(paths: [String])

  package var description: String {
    switch self {
    case .file(let error): error.description
    case .issuing(let error): error.description
    case .unusable(let path, let reason): "\(path): \(reason)"
    case .counterExhausted: "the key's counter is at its end; register a new key"
    case .exists(let paths): "already there: \(paths.joined(separator: ", "))"
    }
  }
}
