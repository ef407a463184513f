/// From an operator's order, a verb with arguments, to the call that does it; each part knows its own verbs.
package import JSON

/// The verbs of one part.
protocol OrderReader {
  /// Nil for a verb of another part.
  static func call(_ verb: String, _ arguments: JSONObject) throws(FormError) -> (any RegistryCall)?
}

package enum OperatorOrder {
  /// A part adds its reader here.
  static var readers: [any OrderReader.Type] {
    [
      AuditOrders.self,
      StoreOrders.self,
      DeviceOrders.self,
      PairingOrders.self,
      ServiceOrders.self,
      ApprovalOrders.self,
      CodeOrders.self,
    ]
  }

  package enum Refusal: Error, Equatable, Sendable {
    case unknownVerb
    /// Names the argument that is missing, too many, or of no use.
    case wrongArgument(String)
  }

  package static func call(_ verb: String, _ arguments: JSONObject) throws(Refusal) -> any RegistryCall {
    try call(verb, arguments, readers)
  }

  static func call(
    _ verb: String, _ arguments: JSONObject, _ readers: [any OrderReader.Type]
  ) throws(Refusal) -> any RegistryCall {
    for reader in readers {
      do throws(FormError) {
        if let call = try reader.call(verb, arguments) { return call }
      } catch {
        throw .wrongArgument(error.step)
      }
    }
    throw .unknownVerb
  }
}

/// What an order states, by name. One that the verb does not have might be meant to narrow it down, and is refused.
package struct OrderArguments {
  private let object: JSONObject

  package init(_ object: JSONObject, _ known: String...) throws(FormError) {
    for member in object.members where !known.contains(member.name) { throw FormError(member.name) }
    self.object = object
  }

  package func text(_ name: String) throws(FormError) -> String {
    guard let text = object[name]?.string else { throw FormError(name) }
    return text
  }

  package func optionalText(_ name: String) throws(FormError) -> String? {
    object[name] == nil ? nil : try text(name)
  }

  package func integer(_ name: String) throws(FormError) -> Int64 {
    guard let number = object[name]?.integer else { throw FormError(name) }
    return number
  }

  package func optionalInteger(_ name: String) throws(FormError) -> Int64? {
    object[name] == nil ? nil : try integer(name)
  }

  /// False where it is not stated.
  package func flag(_ name: String) throws(FormError) -> Bool {
    guard let value = object[name] else { return false }
    guard let flag = value.boolean else { throw FormError(name) }
    return flag
  }

  package func texts(_ name: String) throws(FormError) -> [String] {
    guard let values = object[name]?.array else { throw FormError(name) }
    var texts: [String] = []
    for value in values {
      guard let text = value.string else { throw FormError(name) }
      texts.append(text)
    }
    return texts
  }

  package func optionalTexts(_ name: String) throws(FormError) -> [String]? {
    object[name] == nil ? nil : try texts(name)
  }

  package func object(_ name: String) throws(FormError) -> JSONObject {
    guard let value = object[name]?.object else { throw FormError(name) }
    return value
  }

  package func optionalObject(_ name: String) throws(FormError) -> JSONObject? {
    object[name] == nil ? nil : try object(name)
  }
}
