/// A descriptor of iconv(3) for one direction of a charset, between its bytes and code points.
internal import Glibc

@safe struct Conversion: ~Copyable {
  private let descriptor: iconv_t
  /// Code points of the last call, as many as it said.
  private(set) var units = [UInt32](repeating: 0, count: MultibyteCharset.mostAtOnce)
  /// Bytes of the last call; a character has four at most.
  private(set) var bytes = [UInt8](repeating: 0, count: MultibyteCharset.mostAtOnce * 4)

  private init(owning descriptor: iconv_t) {
    unsafe self.descriptor = descriptor
  }

  deinit {
    unsafe iconv_close(descriptor)
  }

  static func open(from source: String, to target: String) -> Conversion? {
    guard let descriptor = unsafe iconv_open(target, source),
      // (iconv_t)-1, which Swift does not see.
      unsafe descriptor != UnsafeMutableRawPointer(bitPattern: -1)
    else { return nil }
    return unsafe Conversion(owning: descriptor)
  }

  /// To `units`, up to the first byte of what is no character: how many bytes were taken, and how many units made.
  mutating func decode(_ input: Span<UInt8>) -> (taken: Int, made: Int) {
    // Both buffers are borrowed for the call, which is given their lengths in bytes.
    let (taken, made) = unsafe input.withUnsafeBytes { input in
      unsafe units.withUnsafeMutableBytes { output in unsafe convert(descriptor, input, output) }
    }
    return (taken, made / MemoryLayout<UInt32>.size)
  }

  /// To `bytes`, up to the first code point that the charset does not have.
  mutating func encode(_ input: Span<UInt32>) -> (taken: Int, made: Int) {
    // As above.
    let (taken, made) = unsafe input.withUnsafeBytes { input in
      unsafe bytes.withUnsafeMutableBytes { output in unsafe convert(descriptor, input, output) }
    }
    return (taken / MemoryLayout<UInt32>.size, made)
  }
}

/// In bytes. The library only reads the input, though its type does not say so.
private func convert(
  _ descriptor: iconv_t, _ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer
) -> (taken: Int, made: Int) {
  guard let from = input.baseAddress, let to = output.baseAddress else { return (0, 0) }
  var source: UnsafeMutablePointer<CChar>? = unsafe UnsafeMutableRawPointer(mutating: from)
    .assumingMemoryBound(
      to: CChar.self)
  var target: UnsafeMutablePointer<CChar>? = unsafe to.assumingMemoryBound(to: CChar.self)
  var (rest, room) = (input.count, output.count)
  if unsafe iconv(descriptor, &source, &rest, &target, &room) == Int(bitPattern: UInt.max) {
    // These charsets have no shift states, so that nothing but what the library may have noted of the error goes.
    _ = unsafe iconv(descriptor, nil, nil, nil, nil)
  }
  return (input.count - rest, output.count - room)
}
