import Testing

@testable import HTTPWire

/// A parser's answer in a form that can be compared and printed.
enum Answer: Equatable, CustomStringConvertible {
  case needMore
  case head(Summary, consumed: Int)
  case refused(RequestRefusal)

  struct Summary: Equatable {
    var request: String
    var fields: [String]
    var facts: String
  }

  init(_ result: RequestParser.Result) {
    switch result {
    case .needMore: self = .needMore
    case .refused(let refusal): self = .refused(refusal)
    case .head(let head, let consumed):
      let fields = (0..<head.fieldCount).map { head.field(at: $0) }.map { "\($0.name): \($0.value)" }
      self = .head(
        Summary(
          request: "\(head.methodName) \(head.path) \(head.query ?? "-") \(head.version)", fields: fields,
          facts: "\(head.host ?? "-") \(head.bodyLength ?? -1) \(head.expectsContinue) \(head.keepsAlive)"),
        consumed: consumed)
    }
  }

  var rule: RequestRefusal.Rule? {
    if case .refused(let refusal) = self { refusal.rule } else { nil }
  }

  var description: String {
    switch self {
    case .needMore: "needMore"
    case .head(let summary, let consumed): "head \(summary) \(consumed)"
    case .refused(let refusal): "refused \(refusal.rule) \(refusal.consumed ?? -1)"
    }
  }
}

/// Everything at once.
func whole(_ bytes: [UInt8], _ limits: RequestParser.Limits = .init()) -> Answer {
  var parser = RequestParser(limits: limits)
  return Answer(parser.parse(bytes.span))
}

/// The answer of a parser that may have read before.
func next(_ parser: inout RequestParser, _ text: String) -> Answer {
  Answer(parser.parse(Array(text.utf8).span))
}

/// One more byte a call; the answer, and how many bytes it took.
func byteByByte(_ bytes: [UInt8], _ limits: RequestParser.Limits = .init()) -> (answer: Answer, taken: Int) {
  var parser = RequestParser(limits: limits)
  for count in 0...bytes.count {
    let answer = Answer(parser.parse(bytes.span.extracting(0..<count)))
    if answer != .needMore { return (answer, count) }
  }
  return (.needMore, bytes.count)
}

/// The head of `text`, whole; a refusal fails the test.
func head(_ text: String, _ location: SourceLocation = #_sourceLocation) throws -> RequestHead {
  var parser = RequestParser()
  let result = parser.parse(Array(text.utf8).span)
  guard case .head(let head, _) = result else {
    Issue.record("no head: \(Answer(result))", sourceLocation: location)
    throw RequestRefusal(.method)
  }
  return head
}
