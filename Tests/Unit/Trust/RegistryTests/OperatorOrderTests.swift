import Testing

@testable import JSON
@testable import Registry

/// From orders to calls: each verb by its word, and no argument passed over.
@Suite struct OperatorOrderTests {
  /// What programs and operators send, so that none is renamed by the way.
  @Test func words() {
    #expect(
      OperatorVerb.allCases.map(\.rawValue).sorted() == [
        "approvals-approve", "approvals-browse", "approvals-cancel", "approvals-deny", "approvals-list",
        "approvals-look", "approvals-request", "approvals-show", "audit-export", "audit-list", "audit-prune",
        "audit-search", "audit-verify", "bars-lift", "bars-list", "devices-assign", "devices-backup",
        "devices-browse", "devices-confirm", "devices-end", "devices-except", "devices-forget",
        "devices-list", "devices-look", "devices-names", "devices-rename", "devices-revoke",
        "devices-rotate-token-keys", "devices-show", "devices-unlock", "pair-browse", "pair-burn",
        "pair-confirm", "pair-open", "pair-status", "services-add", "services-list", "services-revoke",
        "services-rotate",
      ])
  }

  @Test func changes() {
    #expect(
      OperatorVerb.allCases.filter { !$0.isChange }.map(\.rawValue).sorted() == [
        "approvals-browse", "approvals-list", "approvals-look", "approvals-show", "audit-export",
        "audit-list", "audit-search", "audit-verify", "bars-list", "devices-browse", "devices-list",
        "devices-look", "devices-names", "devices-show", "pair-browse", "pair-status", "services-list",
      ])
  }

  @Test(arguments: OperatorVerb.allCases)
  func unknownArguments(verb: OperatorVerb) {
    let arguments = JSONObject([(name: "no_such_argument", value: .boolean(true))])
    #expect(throws: FormError("no_such_argument")) { try OperatorOrder.call(verb, arguments) }
  }

  @Test(arguments: [
    ("{}", "name"), (#"{"name":7}"#, "name"), (#"{"name":null}"#, "name"),
    (#"{"name":"n","count":"7"}"#, "count"),
    (#"{"name":"n","count":1.5}"#, "count"), (#"{"name":"n","count":null}"#, "count"),
    (#"{"name":"n","all":true}"#, "all"),
  ])
  func wrongArguments(json: String, name: String) throws {
    let value = try JSONValue(parsing: Array(json.utf8).span, depthLimit: 4)
    let object = try #require(value.object)
    #expect(throws: FormError(name)) {
      let arguments = try OrderArguments(object, "name", "count")
      _ = (try arguments.text("name"), try arguments.optionalInteger("count"))
    }
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
