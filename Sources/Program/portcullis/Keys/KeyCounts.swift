/// `portcullis stats --keys`: keys by state, environment and app, out of the store's files (docs/running.md, "Commands").
import Assembly
import Bytes
import Configuration
import JSON
import KeyStore
import Prompt
import System
import Time

enum KeyCounts {
  static func show(_ configuration: GateConfiguration, json: Bool) throws {
    let contents = try StoreAccess.read(configuration)
    let day = SystemClock().wall().milliseconds - 86_400_000
    var revoked = 0
    var usedToday = 0
    var environments: [String: Int] = [:]
    var apps: [String: Int] = [:]
    contents.forEach { _, record in
      if record.revokedAt != nil { revoked += 1 }
      if let time = record.lastUsedAt, time.milliseconds >= day { usedToday += 1 }
      environments[record.environmentName, default: 0] += 1
      apps[record.appID ?? "unknown", default: 0] += 1
    }
    var output = Output()
    let numbers = [
      ("keys", contents.count), ("revokedKeys", revoked), ("usedWithinADay", usedToday),
      ("snapshotBytes", Int(contents.snapshotBytes)), ("journalBytes", Int(contents.journalBytes)),
    ]
    let groups = [("environments", environments), ("apps", apps)].map { name, counts in
      (name, counts.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) })
    }
    if json {
      var writer = JSONWriter()
      writer.beginObject()
      for (name, number) in numbers {
        writer.name(name)
        writer.value(number)
      }
      for (name, counts) in groups {
        writer.name(name)
        writer.beginObject()
        for (key, count) in counts {
          writer.name(key)
          writer.value(count)
        }
        writer.endObject()
      }
      writer.endObject()
      try output.line(json: writer)
    } else {
      var rows = numbers.map { ($0, "\($1)") }
      for (name, counts) in groups {
        rows += counts.map {
          ("\(name.dropLast()).\(PrintableText.field($0.key, limit: 200))", "\($0.value)")
        }
      }
      for line in columns(rows) { try output.line(line) }
    }
    try output.flush()
  }
}
