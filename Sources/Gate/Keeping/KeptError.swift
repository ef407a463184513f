/// Why what another program has left is not gone on with: it was made by nobody knows whom, so each of its fields is looked
/// at before it counts.

package enum KeptError: Error, Equatable, Sendable, CustomStringConvertible {
  /// It ends within a field.
  case endsEarly
  /// Something stands behind its last field.
  case trailingBytes
  /// A field has no value that it may have.
  case unfit(KeptField)
  /// None of its copies has the checksum that it should have.
  case noCopyChecks
  /// It was written by a program that knows more than this one, or that nobody remembers.
  case unknownLayout(UInt64)
  /// The file of slots is none, or none of this size.
  case noSlotFile

  package var description: String {
    switch self {
    case .endsEarly: "it ends early"
    case .trailingBytes: "something stands behind its end"
    case .unfit(let field): "its \(field.rawValue) cannot be"
    case .noCopyChecks: "neither copy has its checksum"
    case .unknownLayout(let layout): "its layout \(layout) is not known"
    case .noSlotFile: "it is no file of slots"
    }
  }
}

package enum KeptField: String, Sendable {
  case state, ids, credential, source, charset, size, client, owed, flags, counts, place, options
  case held, again, messages, queue, subnegotiation, words, environment, bytes
}
