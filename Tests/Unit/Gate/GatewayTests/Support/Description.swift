/// docs/openapi.yaml as its lines say it: paths, operations, whose tokens they want, and the codes of refusals.
import Kit
import System

struct Description {
  struct Operation {
    let method: String
    let lines: [Substring]

    var hasBody: Bool { lines.contains("      requestBody:") }

    /// Whose token; `nobody` where none is needed.
    var bearers: [String] {
      guard let line = lines.first(where: { $0.hasPrefix("      security: ") }) else { return ["nobody"] }
      let words = ["device", "service"].filter { line.contains("{\($0): []}") }
      return words + (line.contains("{}") ? ["nobody"] : [])
    }

    /// Members of the query.
    var queries: Set<String> {
      var found: Set<String> = []
      for (index, line) in lines.enumerated() {
        if line.hasSuffix("/parameters/After'") { found.insert("after") }
        if line.hasSuffix("/parameters/Wait'") || line.contains("/parameters/Wait'}") { found.insert("wait") }
        if line.hasPrefix("        - name: "), lines[index + 1] == "          in: query" {
          found.insert(String(line.dropFirst("        - name: ".count)))
        }
      }
      return found
    }
  }

  struct Path {
    let name: String
    let operations: [Operation]
    let isAdmin: Bool

    var methods: Set<String> { Set(operations.map(\.method)) }

    /// With a name in the place of what stands in braces.
    var example: String {
      name.split(separator: "/", omittingEmptySubsequences: false)
        .map { $0.hasPrefix("{") ? "11111111-2222-4333-8444-555555555555" : String($0) }
        .joined(separator: "/")
    }
  }

  let paths: [Path]
  /// By status, or `4XX` and `5XX`: the codes that are listed.
  let refusals: [(status: String, codes: [String])]

  init() throws {
    let text = try Repository.text("docs/openapi.yaml")
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard let start = lines.firstIndex(of: "paths:"), let end = lines.firstIndex(of: "components:") else {
      throw NoDescription()
    }
    paths = Self.blocks(of: lines[(start + 1)..<end], indented: 2).map { block in
      Path(
        name: block.name,
        operations: Self.blocks(of: block.lines, indented: 4)
          .filter { ["get", "post", "delete"].contains($0.name) }
          .map { Operation(method: $0.name.uppercased(), lines: Array($0.lines)) },
        isAdmin: block.lines.contains("      tags: [admin]"))
    }
    let components = Self.blocks(of: lines[end...], indented: 4)
      .filter { ["Malformed", "Failed"].contains($0.name) }
    refusals =
      paths.filter { !$0.isAdmin }.flatMap(\.operations).flatMap { Self.refusals(in: $0.lines) }
      + components.map { (status: $0.name == "Failed" ? "5XX" : "4XX", codes: Self.codes(in: $0.lines)) }
  }

  /// What is below each name at this depth.
  private static func blocks(
    of lines: ArraySlice<Substring>, indented depth: Int
  ) -> [(name: String, lines: ArraySlice<Substring>)] {
    let starts = lines.indices.filter {
      lines[$0].hasSuffix(":") && lines[$0].prefix { $0 == " " }.count == depth
    }
    return zip(starts, starts.dropFirst() + [lines.endIndex]).map { start, end in
      (name: String(lines[start].dropFirst(depth).dropLast()), lines: lines[(start + 1)..<end])
    }
  }

  /// The lists of codes of one operation: behind the reference, or in the lines below it.
  private static func refusals(in lines: [Substring]) -> [(status: String, codes: [String])] {
    let starts = lines.indices.filter {
      lines[$0].hasPrefix("        '4") || lines[$0].hasPrefix("        '5")
    }
    return zip(starts, starts.dropFirst() + [lines.endIndex]).map { start, end in
      (status: String(lines[start].dropFirst(9).prefix(3)), codes: codes(in: lines[start..<end]))
    }
  }

  /// Words behind `description:`, up to what is no list any more.
  private static func codes(in lines: ArraySlice<Substring>) -> [String] {
    var words: [String] = []
    var isList = false
    for line in lines {
      var rest = line
      if let range = line.firstRange(of: "description: ") {
        isList = true
        rest = line[range.upperBound...]
      } else if line.contains(":") {
        isList = false
      }
      if isList { words += rest.split { !$0.isLowercase && $0 != "_" }.map(String.init) }
    }
    return words
  }
}

struct NoDescription: Error {}
