import Addresses
import HTTPWire
import Kit
import Synchronization
import System
import Testing

@testable import Gateway

/// Bytes that follow from a seed.
final class SeededEntropy: Entropy {
  private let numbers: Mutex<SplitMix>

  init(_ seed: UInt64) { numbers = Mutex(SplitMix(seed: seed)) }

  func fill(_ bytes: inout MutableSpan<UInt8>) {
    for index in bytes.indices { bytes[index] = UInt8(truncatingIfNeeded: numbers.withLock { $0.next() }) }
  }
}

/// The worst randomness there can be.
struct NoEntropy: Entropy {
  func fill(_ bytes: inout MutableSpan<UInt8>) {
    for index in bytes.indices { bytes[index] = 0 }
  }
}

func address(_ number: Int) -> IPAddress { IPAddress(v4: UInt32(number)) }

/// A request's head as the real parser reads it.
func head(_ requestLine: String, _ fields: String...) throws -> RequestHead {
  let text = ([requestLine, "Host: gate.example"] + fields).joined(separator: "\r\n") + "\r\n\r\n"
  var parser = RequestParser()
  let bytes = Array(text.utf8)
  let result = parser.parse(bytes.span)
  guard case .head(let head, _) = result else {
    Issue.record("not a head: \(text)")
    throw NotAHead()
  }
  return head
}

struct NotAHead: Error {}
