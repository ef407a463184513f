import Testing

@testable import JSON
@testable import Registry

/// From orders to calls: each verb to its part, and no argument passed over.
@Suite struct OperatorOrderTests {
  private struct Named: RegistryCall {
    let name: String
    let count: Int64?

    func run(_ desk: inout Desk) throws(CallFailure) -> Outcome { .reply(.answered([])) }
  }

  private enum First: OrderReader {
    static func call(_ verb: String, _ arguments: JSONObject) throws(FormError) -> (any RegistryCall)? {
      guard verb == "first" else { return nil }
      return Named(name: "first", count: nil)
    }
  }

  private enum Second: OrderReader {
    static func call(_ verb: String, _ arguments: JSONObject) throws(FormError) -> (any RegistryCall)? {
      guard verb == "second" else { return nil }
      let arguments = try OrderArguments(arguments, "name", "count")
      return Named(name: try arguments.text("name"), count: try arguments.optionalInteger("count"))
    }
  }

  private func call(_ verb: String, _ json: String) throws -> Named? {
    let value = try JSONValue(parsing: Array(json.utf8).span, depthLimit: 4)
    return try OperatorOrder.call(verb, #require(value.object), [First.self, Second.self]) as? Named
  }

  @Test func eachVerbToItsPart() throws {
    #expect(try call("first", "{}")?.name == "first")
    let second = try call("second", #"{"name":"n","count":7}"#)
    #expect(second?.name == "n" && second?.count == 7)
    #expect(throws: OperatorOrder.Refusal.unknownVerb) { try call("third", "{}") }
    #expect(throws: OperatorOrder.Refusal.unknownVerb) { try call("First", "{}") }
  }

  @Test(arguments: [
    ("{}", "name"), (#"{"name":7}"#, "name"), (#"{"name":null}"#, "name"),
    (#"{"name":"n","count":"7"}"#, "count"),
    (#"{"name":"n","count":1.5}"#, "count"), (#"{"name":"n","count":null}"#, "count"),
    (#"{"name":"n","all":true}"#, "all"),
  ])
  func wrongArguments(json: String, name: String) {
    #expect(throws: OperatorOrder.Refusal.wrongArgument(name)) { try call("second", json) }
  }

  @Test func listsAndObjects() throws {
    let value = try JSONValue(
      parsing: Array(#"{"a":["x","y"],"b":["x",1],"c":{"k":"v"}}"#.utf8).span, depthLimit: 4)
    let arguments = try OrderArguments(#require(value.object), "a", "b", "c")
    #expect(try arguments.texts("a") == ["x", "y"])
    #expect(throws: FormError("b")) { try arguments.texts("b") }
    #expect(throws: FormError("c")) { try arguments.texts("c") }
    #expect(try arguments.object("c")["k"]?.string == "v")
    #expect(try arguments.optionalObject("d") == nil && arguments.optionalText("d") == nil)
    #expect(throws: FormError("a")) { try arguments.optionalObject("a") }
  }
}
