/// Randomness and addresses for tests: the same on every run.
package import Addresses
internal import Synchronization
internal import Time

/// Bytes that follow from a seed.
package final class SeededEntropy: Entropy {
  private let numbers: Mutex<SplitMix>

  package init(_ seed: UInt64) { numbers = Mutex(SplitMix(seed: seed)) }

  package func fill(_ bytes: inout MutableSpan<UInt8>) {
    for index in bytes.indices { bytes[index] = UInt8(truncatingIfNeeded: numbers.withLock { $0.next() }) }
  }
}

/// The worst randomness there can be.
package struct NoEntropy: Entropy {
  package init() {}

  package func fill(_ bytes: inout MutableSpan<UInt8>) {
    for index in bytes.indices { bytes[index] = 0 }
  }
}

package func address(_ number: Int) -> IPAddress { IPAddress(v4: UInt32(number)) }
