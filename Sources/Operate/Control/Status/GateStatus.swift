/// The running gate in brief, as `portcullis status` shows it: put together of what it answers to several questions.
package import JSON

package struct GateStatus: Sendable {
  package let health: GateHealth
  /// Players with a connection.
  package let attached: Int
  /// Players without one, who may reconnect.
  package let detached: Int
  /// `accepting`, `stalled` or `closed`, and why.
  package let store: (service: String, reason: String?)
  /// Requests that wait for a decision, as `approvals list` has them; nil in a gate without devices.
  package let approvals: [JSONObject]?
  /// Devices that wait for an operator, as `devices list` has them; nil in a gate without devices.
  package let devices: [JSONObject]?
  /// The latest first; nil from a gate that is too old to say.
  package let refusals: [RefusalSummary]?

  package init(
    _ statistics: GateStatistics, approvals: [JSONObject]?, devices: [JSONObject]?,
    refusals: [RefusalSummary]?
  ) {
    func gauge(_ name: String) -> Int { statistics.gauges.first { $0.name == name }?.count ?? 0 }
    health = statistics.health
    attached = gauge("sessions")
    detached = max(0, gauge("detached") - gauge("concluded"))
    store = (statistics.store.service, statistics.store.reason)
    self.approvals = approvals
    self.devices = devices
    self.refusals = refusals
  }

  package func write(to writer: inout JSONWriter) {
    writer.beginObject()
    health.write(to: &writer)
    writer.member("sessions", attached)
    writer.member("detached", detached)
    writer.name("store")
    writer.beginObject()
    writer.member("service", store.service)
    writer.member("reason", optional: store.reason)
    writer.endObject()
    for (name, objects) in [("approvals", approvals), ("devices", devices)] {
      writer.name(name)
      writer.value(objects.map { .array($0.map(JSONValue.object)) } ?? .null)
    }
    writer.name("refusals")
    if let refusals {
      writer.beginArray()
      for refusal in refusals { refusal.write(to: &writer) }
      writer.endArray()
    } else {
      writer.value(.null)
    }
    writer.endObject()
  }
}
