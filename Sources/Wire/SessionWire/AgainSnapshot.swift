/// What an `AgainCache` keeps, for the process that goes on with its session.
internal import Bytes
internal import JSON

package struct AgainSnapshot: Equatable, Sendable {
  package enum Kind: UInt8, Sendable { case gmcp, msdp, mssp }

  package struct Value: Equatable, Sendable {
    package let kind: Kind
    package let name: [UInt8]
    package let data: [UInt8]?

    /// Nil where a message with it would be none.
    package init?(checking kind: Kind, name: [UInt8], data: [UInt8]?) {
      if let data, !Self.isValue(data.span) { return nil }
      switch kind {
      case .gmcp: guard !name.isEmpty, name.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
      // As it stands between its quotes.
      case .msdp: guard data != nil, Self.isValue((Self.quote + name + Self.quote).span) else { return nil }
      case .mssp: guard data != nil, name.isEmpty else { return nil }
      }
      self.init(kind: kind, name: name, data: data)
    }

    init(kind: Kind, name: [UInt8], data: [UInt8]?) {
      self.kind = kind
      self.name = name
      self.data = data
    }

    private static func isValue(_ bytes: Span<UInt8>) -> Bool {
      var reader = JSONReader(bytes, depthLimit: 62)
      do throws(JSONError) {
        _ = try reader.skipValue()
        try reader.finish()
        return true
      } catch {
        return false
      }
    }

    private static let quote = [UInt8(ascii: "\"")]
  }

  package let isEchoing: Bool
  /// The one that was renewed last comes last.
  package let values: [Value]

  package init(isEchoing: Bool, values: [Value]) {
    self.isEchoing = isEchoing
    self.values = values
  }
}

extension AgainCache {
  package var snapshot: AgainSnapshot {
    var values: [AgainSnapshot.Value] = []
    entries.each { entry in
      let kind: AgainSnapshot.Kind =
        switch entry.kind {
        case .gmcp: .gmcp
        case .msdp: .msdp
        case .mssp: .mssp
        }
      values.append(
        AgainSnapshot.Value(
          kind: kind, name: entry.name.copied, data: entry.hasData ? entry.data.copied : nil))
    }
    return AgainSnapshot(isEchoing: isEchoing, values: values)
  }

  /// What is chosen and has room now of what was kept then.
  package mutating func restore(_ snapshot: AgainSnapshot) {
    noteEcho(snapshot.isEchoing)
    for value in snapshot.values {
      switch value.kind {
      case .gmcp: noteGMCP(package: value.name.span, data: value.data?.span)
      case .msdp: keep(.msdp, value.name.span, value.data?.span)
      case .mssp: keep(.mssp, value.name.span, value.data?.span)
      }
    }
  }
}

extension Span where Element == UInt8 {
  fileprivate var copied: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(copying: self)
    return bytes
  }
}
