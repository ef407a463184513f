/// What the policy files have in common: one JSON object with a list of objects in it.
internal import JSON

package enum PolicyFile {
  /// Deeper than any policy; a file that nests more is no policy.
  private static let depth = 8

  package static func object(_ bytes: Span<UInt8>) throws(PolicyFailure) -> PolicyObject {
    let value: JSONValue
    do throws(JSONError) {
      value = try JSONValue(parsing: bytes, depthLimit: depth)
    } catch {
      let place = place(of: error.offset, in: bytes)
      throw failure("\(place): \(error.rule.rawValue)", remedy: "write one JSON object (RFC 8259)")
    }
    guard let object = value.object else {
      throw failure("the file is no JSON object", remedy: "write an object in braces")
    }
    return PolicyObject(object, place: "")
  }

  /// The elements of a list of at most `ApprovalBounds.rules`.
  static func list(_ name: String, in file: inout PolicyObject, required: Bool) -> [JSONValue] {
    let remedy = "write a list of at most \(ApprovalBounds.rules) objects"
    guard let value = file.value(name) else {
      if required { file.complain(name, nil, "is missing", remedy: remedy) }
      return []
    }
    guard let list = value.array, list.count <= ApprovalBounds.rules else {
      file.complain(name, nil, value.array == nil ? "is no list" : "is too long", remedy: remedy)
      return []
    }
    return list
  }

  /// Nil with a problem noted.
  static func element(_ value: JSONValue, _ place: String, _ file: inout PolicyObject) -> PolicyObject? {
    if let object = value.object { return PolicyObject(object, place: place) }
    file.take([
      PolicyProblem(
        place: place, member: nil, value: value, "is no object", remedy: "write an object in braces")
    ])
    return nil
  }

  private static func failure(_ reason: String, remedy: String) -> PolicyFailure {
    PolicyFailure(problems: [PolicyProblem(place: "", member: nil, reason, remedy: remedy)])
  }

  /// Line and byte of it, both counted from 1.
  private static func place(of offset: Int, in bytes: Span<UInt8>) -> String {
    var line = 1
    var start = 0
    for index in 0..<min(offset, bytes.count) where bytes[index] == UInt8(ascii: "\n") {
      line += 1
      start = index + 1
    }
    return "line \(line), byte \(offset - start + 1)"
  }
}
