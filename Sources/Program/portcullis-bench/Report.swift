/// Numbers by name, as one JSON object; and the two clocks of a measure.
internal import CLinux
internal import JSON
internal import Time

struct Report {
  private var members: [(name: String, value: Double?)] = []

  init(_ members: (name: String, value: Double?)...) {
    self.members = members
  }

  var text: String {
    var writer = JSONWriter()
    writer.beginObject()
    for member in members {
      writer.name(member.name)
      if let value = member.value, value.isFinite {
        writer.raw(Array("\(value)".utf8))
      } else {
        writer.null()
      }
    }
    writer.endObject()
    return writer.string
  }
}

/// Processor time of the calling thread: what other programs take meanwhile does not count.
struct ProcessorClock {
  private let started = portcullis_thread_cpu()

  var seconds: Double { Double(portcullis_thread_cpu() - started) / 1e9 }
}

struct WallClock {
  private let started = SystemClock().monotonic()

  var seconds: Double { (SystemClock().monotonic() - started).inSeconds }
}

extension Duration {
  var inSeconds: Double { Double(wholeNanoseconds) / 1e9 }
}
