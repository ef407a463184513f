import Testing

@testable import Admin

/// Queries and forms of browsers: what they mean, and what is refused before anybody reads a field of it.
@Suite struct FormTests {
  private func parse(_ text: String) throws(AdminForm.ParseError) -> AdminForm {
    try AdminForm(parsing: Array(text.utf8).span)
  }

  static let read: [(String, [(name: String, value: String)])] = [
    ("", []), ("&&", []), ("a", [("a", "")]), ("a=", [("a", "")]), ("=b", [("", "b")]),
    ("a=b=c", [("a", "b=c")]),
    ("a=1&b=2&", [("a", "1"), ("b", "2")]), ("q=a+b%2Bc", [("q", "a b+c")]),
    ("%C3%A4=%3C%22%26%3E", [("ä", "<\"&>")]), ("a=%00%0d%0A", [("a", "\0\r\n")]),
  ]

  @Test(arguments: read)
  func fields(text: String, expected: [(name: String, value: String)]) throws {
    #expect(try parse(text) == AdminForm(expected))
  }

  @Test(arguments: [
    ("a=1&a=2", AdminForm.ParseError.repeatedName), ("a=1&%61=2", .repeatedName), ("a=%", .escape),
    ("a=%4", .escape), ("a=%4g", .escape), ("%g1=", .escape), ("a=%ff", .text), ("a=%C3", .text),
    ("a=%ED%A0%80", .text),
  ])
  func refused(text: String, rule: AdminForm.ParseError) {
    #expect(throws: rule) { try parse(text) }
  }

  @Test func soManyFieldsAndNoMore() throws {
    let names = (0...AdminForm.mostFields).map { "f\($0)=" }
    #expect(try parse(names.dropLast().joined(separator: "&")).fields.count == AdminForm.mostFields)
    #expect(throws: AdminForm.ParseError.tooManyFields) { try parse(names.joined(separator: "&")) }
  }

  @Test func theFirstOfItsNameIsFound() throws {
    let form = try parse("token=x&reason=why+not")
    #expect(form["reason"] == "why not" && form["token"] == "x" && form["Token"] == nil)
  }
}
