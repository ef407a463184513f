/// What a store cannot do, told apart by what is to follow.
package enum StoreFailure: Error, Equatable, Sendable, CustomStringConvertible {
  /// The disk takes no more.
  case full(String)
  /// The disk, or what lies on it, fails: nothing is promised before the store is opened anew and looked over.
  case broken(String)
  /// Another process has it.
  case inUse(String)
  /// A rule of the tables forbids it: an error of ours.
  case constraint(String)

  package var description: String {
    switch self {
    case .full(let reason), .broken(let reason), .inUse(let reason), .constraint(let reason): reason
    }
  }
}
