/// A QR code (ISO/IEC 18004): which of its modules are dark, as libqrencode lays them out.
internal import CQRencode

package struct QRCode: Equatable, Sendable {
  /// Modules in a row, and rows; without the quiet zone.
  package let width: Int
  private let darkness: [Bool]

  /// How much of a code may be hidden or misread.
  package enum Correction: Sendable {
    /// Some 7 %: what a screen shows is neither torn nor dirty.
    case low
    /// Some 15 %.
    case medium
  }

  /// Nil: nothing, or more than a code holds, which is 2,331 bytes, or 3,391 of the characters below, with `.medium`.
  ///
  /// Two characters take 11 bits if all are of `0–9 A–Z $%*+-./:` and space, and
  /// 16 otherwise. Of what is not ASCII readers have to guess the charset.
  package init?(_ text: String, correction: Correction = .medium) {
    let bytes = Array(text.utf8)
    guard !bytes.isEmpty, bytes.count <= Self.longest else { return nil }
    let mode = bytes.allSatisfy(Self.isAlphanumeric) ? QR_MODE_AN : QR_MODE_8
    // Both are freed on every way out. The library copies the bytes when they are appended, and owns the code's data as
    // long as the code, width × width bytes of it.
    guard let input = unsafe QRinput_new2(0, correction == .low ? QR_ECLEVEL_L : QR_ECLEVEL_M) else {
      return nil
    }
    defer { unsafe QRinput_free(input) }
    let appended = unsafe bytes.withUnsafeBufferPointer { buffer in
      unsafe QRinput_append(input, mode, Int32(buffer.count), buffer.baseAddress)
    }
    guard appended == 0, let code = unsafe QRcode_encodeInput(input) else { return nil }
    defer { unsafe QRcode_free(code) }
    let width = unsafe Int(code.pointee.width)
    guard let data = unsafe code.pointee.data else { return nil }
    self.width = width
    // The lowest bit is the colour; the others say what a module is for.
    darkness = unsafe UnsafeBufferPointer(start: data, count: width * width).map { $0 & 1 == 1 }
  }

  /// Outside of the code all is light.
  package func isDark(column: Int, row: Int) -> Bool {
    guard (0..<width).contains(column), (0..<width).contains(row) else { return false }
    return darkness[row * width + column]
  }

  /// Beyond what any code holds: digits alone, which this type does not look for, would be 5,596.
  private static let longest = 4_096

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    default: " $%*+-./:".utf8.contains(byte)
    }
  }
}
