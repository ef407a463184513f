import Glibc

@testable import Charsets

/// All of them open, once for all tests.
let library = CharsetLibrary()

func decoded(_ bytes: [UInt8], from charset: Charset, finishing: Bool = true) -> [UInt8] {
  decoded([bytes], from: charset, finishing: finishing)
}

func decoded(_ pieces: [[UInt8]], from charset: Charset, finishing: Bool = true) -> [UInt8] {
  guard var decoder = library.decoder(for: charset) else { fatalError("\(charset) is not open") }
  var output: [UInt8] = []
  for piece in pieces { decoder.decode(piece.span, into: &output) }
  if finishing { decoder.finish(into: &output) }
  return output
}

func text(_ bytes: [UInt8], from charset: Charset, finishing: Bool = true) -> String {
  String(decoding: decoded(bytes, from: charset, finishing: finishing), as: UTF8.self)
}

func encoded(_ bytes: [UInt8], to charset: Charset) -> [UInt8] {
  guard let encoder = library.encoder(for: charset) else { fatalError("\(charset) is not open") }
  var output: [UInt8] = []
  encoder.encode(bytes.span, into: &output)
  return output
}

func encoded(_ text: String, to charset: Charset) -> [UInt8] { encoded(Array(text.utf8), to: charset) }

func utf8(_ scalar: UInt32) -> [UInt8] { Unicode.Scalar(scalar).map { Array(String($0).utf8) } ?? [] }

/// What iconv(3) makes of whole texts, without this project's code around it.
@safe final class Reference {
  private let descriptor: iconv_t

  init(from source: String, to target: String) {
    guard let descriptor = unsafe iconv_open(target, source),
      unsafe descriptor != UnsafeMutableRawPointer(bitPattern: -1)
    else { fatalError("iconv has no \(source) or \(target)") }
    unsafe self.descriptor = descriptor
  }

  deinit { unsafe iconv_close(descriptor) }

  /// Nil for what is malformed, incomplete or not there.
  func convert(_ bytes: [UInt8]) -> [UInt8]? {
    var input = bytes.map { CChar(bitPattern: $0) }
    var output = [CChar](repeating: 0, count: bytes.count * 8 + 16)
    let made: Int? = unsafe input.withUnsafeMutableBufferPointer { input in
      unsafe output.withUnsafeMutableBufferPointer { output in
        var (source, rest) = (input.baseAddress, input.count)
        var (target, room) = (output.baseAddress, output.count)
        let isGood = unsafe iconv(descriptor, &source, &rest, &target, &room) == 0
        // Hebrew letters wait for their points in there.
        unsafe iconv(descriptor, nil, nil, &target, &room)
        return isGood && rest == 0 ? output.count - room : nil
      }
    }
    return made.map { output[..<$0].map { UInt8(bitPattern: $0) } }
  }
}
