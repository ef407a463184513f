/// Orders by their words, as the control socket has them.
import Testing

@testable import JSON
@testable import Registry

extension OperatorOrder {
  static func call(_ word: String, _ arguments: JSONObject) throws -> any RegistryCall {
    try call(#require(OperatorVerb(rawValue: word)), arguments)
  }
}
