/// Canonical JSON and summaries: what is accepted has one form, which reads as the same; it is what an obvious writer makes
/// of our other reader's tree, and a summary built again from its parts is the same summary.
internal import Bytes
internal import DeviceWire
internal import JSON

enum CanonicalJSONHarness {
  static func check(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    let tree = try? JSONValue(parsing: bytes.span, depthLimit: CanonicalObject.depthLimit)
    let object: CanonicalObject
    do throws(CanonicalJSONError) {
      object = try CanonicalObject(parsing: bytes.span)
    } catch {
      try require(error != .canonical && error != .members, "refused as \(error)")
      if error == .utf8 { try require(String(validating: bytes, as: UTF8.self) == nil, "UTF-8 all the same") }
      if error == .syntax { try require(tree == nil, "JSON all the same") }
      try checkSummary(bytes, nil)
      return .refused
    }
    guard let tree = tree?.object else { throw BrokenProperty("no object for the other reader") }
    let form = object.bytes
    try require(form == written(.object(tree)), "another form than the obvious one")
    try require(form.count <= CanonicalObject.sizeLimit, "too long")
    guard let again = try? CanonicalObject(canonical: form.span) else {
      throw BrokenProperty("its own form is refused")
    }
    try require(again == object, "another object when read again")
    try require(
      ((try? CanonicalObject(canonical: bytes.span)) != nil) == (form == bytes),
      "canonical or not, said wrongly")
    try checkSummary(bytes, form)
    return .accepted
  }

  /// - Parameter form: the canonical one, where the bytes are an object at all.
  private static func checkSummary(_ bytes: [UInt8], _ form: [UInt8]?) throws(BrokenProperty) {
    guard let summary = try? Summary(parsing: bytes.span) else { return }
    try require(summary.bytes == form, "a summary in another form")
    let again = try? Summary(
      operation: summary.operation, target: try Summary.Target(summary.target.members), text: summary.text,
      requester: summary.requester, service: summary.service, subject: summary.subject,
      policy: summary.policy, lease: summary.lease, createdAt: summary.createdAt)
    try require(again == summary, "another summary when built again")
  }

  /// By sorting whole trees on arrays of code units.
  private static func written(_ value: JSONValue) -> [UInt8] {
    var writer = JSONWriter()
    switch value {
    case .object(let object):
      writer.beginObject()
      for member in object.members.sorted(by: { precedes(Array($0.name.utf16), Array($1.name.utf16)) }) {
        writer.name(member.name)
        writer.raw(written(member.value))
      }
      writer.endObject()
    case .array, .string, .number, .boolean, .null: writer.value(value)
    }
    return writer.bytes
  }

  private static func precedes(_ left: [UInt16], _ right: [UInt16]) -> Bool {
    for (a, b) in zip(left, right) where a != b { return a < b }
    return left.count < right.count
  }
}
