/// Randomness, behind a seam; in the program it is the kernel's.
internal import CLinux

/// Where unpredictable bytes come from; tests put a sequence of their own in its place.
package protocol Entropy: Sendable {
  func fill(_ bytes: inout MutableSpan<UInt8>)
}

extension Entropy {
  package func bytes(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var span = bytes.mutableSpan
    fill(&span)
    return bytes
  }
}

/// `getrandom(2)`. Without randomness nothing here is safe, so its failure ends the process.
package struct KernelEntropy: Entropy {
  package init() {}

  package func fill(_ bytes: inout MutableSpan<UInt8>) {
    // The buffer is the span's own, and the call writes at most `count` bytes of it before it returns.
    let failed = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
      unsafe portcullis_random(buffer.baseAddress, buffer.count) != 0
    }
    if failed { fatalError("getrandom failed: errno \(portcullis_errno())") }
  }
}
