/// Health and the like, as games say them in the GMCP package `Char.Vitals`.
import Foundation

struct Vital: Identifiable, Equatable {
  let name: String
  let value: Double
  let most: Double
  var id: String { name }

  /// Each member that comes with its maximum: `{"hp": 70, "maxhp": 120}`. Games write numbers as text, too.
  static func all(in json: String) -> [Vital] {
    let members = (try? JSONDecoder().decode([String: Number].self, from: Data(json.utf8))) ?? [:]
    return members.keys.sorted().compactMap { name in
      guard let value = members[name]?.value, let most = members["max" + name]?.value, most > 0 else {
        return nil
      }
      return Vital(name: name.uppercased(), value: min(max(0, value), most), most: most)
    }
  }

  /// Nil for what is no number, so that one member does not hide the others.
  private struct Number: Decodable {
    let value: Double?

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      let text = try? container.decode(String.self)
      value = try? text.map { Double($0) } ?? container.decode(Double.self)
    }
  }
}
