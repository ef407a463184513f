/// What waits for an operator: counted in the menu of each page, and named on the overview.
internal import Prompt
import Time

struct Waiting: Equatable, Sendable {
  /// A request for approval that takes an operator's word.
  struct Request: Equatable, Sendable {
    var id: String
    var operation: String
    /// What the requester wants.
    var text: String?
    var endsAt: UnixTime
  }

  /// A phone whose six digits nobody has typed.
  struct Phone: Equatable, Sendable {
    var deviceID: String?
    var name: String?
    var subject: String?
    var endsAt: UnixTime
  }

  /// The first to end first.
  var requests: [Request] = []
  var phones: [Phone] = []

  private static let shown = 6

  /// Of those behind an entry of the menu; nil where nothing can wait.
  func count(of entry: MenuEntry) -> (name: StaticString, number: Int)? {
    switch entry {
    case .approvals: ("waiting-approvals", requests.count)
    case .devices: ("waiting-devices", phones.count)
    case .overview, .sessions, .keys, .refusals, .audit, .configuration, .drain: nil
    }
  }

  // MARK: On the overview

  var title: String {
    let parts = [
      requests.isEmpty ? nil : Wording.count(requests.count, "request", "requests"),
      phones.isEmpty ? nil : Wording.count(phones.count, "phone", "phones"),
    ]
    let text = parts.compactMap(\.self).joined(separator: ", ")
    return text.isEmpty ? "Nothing waits for you" : "Waits for you: \(text)"
  }

  /// Of all that waits the first to end.
  var table: Table {
    let asked = requests.map { request in
      (
        request.endsAt,
        [
          Cell.link(.text(request.operation.isEmpty ? request.id : request.operation), .approval(request.id)),
          .optional(sentence: request.text), .ends(request.endsAt),
        ]
      )
    }
    let shows = phones.map { phone in
      (
        phone.endsAt,
        [
          phone.link, .text("shows six digits\(phone.subject.map { ", for \($0)" } ?? "")"),
          .ends(phone.endsAt),
        ]
      )
    }
    let rows = (asked + shows).sorted { $0.0 < $1.0 }.prefix(Self.shown).map(\.1)
    return Table(
      name: "waiting", caption: "What waits, the first to end first", hidesCaption: true,
      columns: [.init("what", "What"), .init("says", "It says"), .init("ends", "Time left")],
      rows: rows, empty: "Nothing waits for you.")
  }
}

extension Waiting.Phone {
  fileprivate var link: Cell {
    .link(
      .text(name ?? "A phone without a name"),
      deviceID.map { ConsolePath.device($0).appending("confirm") } ?? .devices)
  }
}
