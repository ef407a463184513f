/// The charsets that are open, for decoders and encoders of any thread.
internal import Synchronization

package final class CharsetLibrary: Sendable {
  private let multibyte: [Charset: MultibyteCharset]
  /// Made when first asked for: it takes no more than memory, and most gates need one or none.
  private let tables = Mutex<[Charset: SingleByteTable]>([:])

  /// Opens those of several bytes a character; all others are there in any case.
  ///
  /// To be called before the sandbox is raised, since the C library loads a module for each. Those that it has no module
  /// for are left out.
  package init(opening charsets: some Sequence<Charset> = Charset.allCases) {
    var opened: [Charset: MultibyteCharset] = [:]
    for charset in charsets { opened[charset] = MultibyteCharset(charset) }
    multibyte = opened
  }

  /// Whether `charset` can be had here.
  package static func isAvailable(_ charset: Charset) -> Bool {
    !charset.needsModule || MultibyteCharset(charset) != nil
  }

  /// Whether there are a decoder and an encoder for it.
  package func has(_ charset: Charset) -> Bool { !charset.needsModule || multibyte[charset] != nil }

  /// Nil for a charset that is not open.
  package func decoder(for charset: Charset) -> CharsetDecoder? {
    coding(for: charset).map { CharsetDecoder($0) }
  }

  /// Nil for a charset that is not open.
  package func encoder(for charset: Charset) -> CharsetEncoder? {
    coding(for: charset).map { CharsetEncoder($0) }
  }

  private func coding(for charset: Charset) -> CharsetCoding? {
    if charset.isUTF8 { return .utf8 }
    if charset.needsModule { return multibyte[charset].map { .multibyte($0) } }
    return tables.withLock { tables in
      if let table = tables[charset] { return .singleByte(table) }
      let table = SingleByteTable(charset)
      tables[charset] = table
      return table.map { .singleByte($0) }
    }
  }
}

/// By what text is converted.
enum CharsetCoding: Sendable {
  case utf8
  case singleByte(SingleByteTable)
  case multibyte(MultibyteCharset)
}

extension Charset {
  /// Whether the C library converts it, by a module of its own.
  var needsModule: Bool { CharacterForm(self).map { $0 != .utf8 } ?? false }
}
