/// What the search finds: sessions, refusals, phones and keys, each by the rules of its own page.
import Admin
import Bytes
import DeviceWire
import Registry

extension ConsolePages {
  /// Of each kind: that kind's own page has more.
  private static let most = 20

  func search(_ request: AdminRequest) throws(ConsoleFailure) -> SearchPage {
    let text = Self.trimmed(request.query["find"] ?? "")
    guard !text.isEmpty else {
      return SearchPage(
        text: "", sessions: [], refusals: [], devices: [], keys: [], hasDevices: sources.hasDevices)
    }
    let devices = try devices(called: text, request)
    return SearchPage(
      text: text, sessions: Array(try sessions(called: text, request).prefix(Self.most)),
      refusals: try refusals(of: text, request), devices: devices.prefix(Self.most).map { DeviceRow($0) },
      keys: keys(called: text, most: Self.most), hasDevices: sources.hasDevices)
  }

  private static func trimmed(_ text: String) -> String {
    var text = text[...]
    while text.first == " " { text.removeFirst() }
    while text.last == " " { text.removeLast() }
    return String(text)
  }

  /// By a part of the name, by the beginning of the id, or by whose they are.
  func devices(called text: String, _ request: AdminRequest) throws(ConsoleFailure) -> [DeviceRecord] {
    guard sources.hasDevices else { return [] }
    var found = try ask(
      BrowseDevices(text: text, subject: nil, state: nil, after: nil, limit: ListEnd.rowsPerPage), request
    ).devices
    if let subject = Subject(text) {
      let ids = Set(found.map(\.id))
      found += try ask(
        BrowseDevices(text: "", subject: subject, state: nil, after: nil, limit: ListEnd.rowsPerPage),
        request
      ).devices.filter { !ids.contains($0.id) }
    }
    return found
  }
}
