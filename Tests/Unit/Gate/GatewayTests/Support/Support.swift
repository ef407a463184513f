import Addresses
import HTTPWire
import Synchronization
import System
import Testing

@testable import Gateway

/// A clock that stands still until it is told to go on.
final class ManualClock: Clock {
  private let time: Mutex<(monotonic: UInt64, wall: Int64)>
  private let tick = Mutex(UInt64(0))

  init(nanoseconds: UInt64 = 5_000_000_000, wall: Int64 = 1_771_286_400_000) {
    time = Mutex((nanoseconds, wall))
  }

  func monotonic() -> MonotonicTime {
    let tick = tick.withLock { $0 }
    return MonotonicTime(
      nanoseconds: time.withLock { time in
        time.monotonic += tick
        return time.monotonic
      })
  }
  func wall() -> UnixTime { UnixTime(milliseconds: time.withLock { $0.wall }) }

  func advance(_ duration: Duration) {
    time.withLock { time in
      time.monotonic += duration.wholeNanoseconds
      time.wall += duration.wholeMilliseconds
    }
  }

  /// From now on each look at it takes so long.
  func slow(by duration: Duration) { tick.withLock { $0 = duration.wholeNanoseconds } }
}

/// Bytes that follow from a seed.
final class SeededEntropy: Entropy {
  private let numbers: Mutex<Numbers>

  init(_ seed: UInt64) { numbers = Mutex(Numbers(seed)) }

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

/// A small generator with a seed (SplitMix64), so that a failure can be repeated.
struct Numbers: Sendable {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func next(below limit: Int) -> Int { Int(next() % UInt64(limit)) }
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
