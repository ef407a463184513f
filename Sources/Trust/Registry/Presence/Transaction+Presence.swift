/// Whether a phone is near, for whoever has to know; and which phones a desktop may ask.
internal import DeviceWire
internal import PortcullisProtocol

extension Transaction {
  /// Whether a desktop has seen the device within `PRESENCE_MAX_AGE`. That uses nothing up.
  func isNear(_ device: DeviceRecord) -> Bool {
    device.state == .active
      && devices.presence.isNear(device, within: settings.presenceMaximumAge, now: now)
  }

  /// The device that a desktop asks about. One that is not there, not confirmed, at its end, or somebody's whom the
  /// service may not name, is as far away as one that does not answer.
  func device(_ id: DeviceID, near desktop: ServiceRecord) throws(CallFailure) -> DeviceRecord {
    let found = try store.device(id)
    guard let device = found, device.state == .active else {
      throw .refused(.presenceRejected, "presence_device")
    }
    guard device.subject.map(desktop.mayName) ?? true else {
      throw .refused(.presenceRejected, "presence_subject")
    }
    return device
  }
}

extension ServiceRecord {
  /// Its name in what phones sign.
  var desktop: DesktopID {
    guard let desktop = DesktopID(id.bytes) else { fatalError("an identifier is sixteen bytes") }
    return desktop
  }
}

extension AuditEntry.Event {
  /// A phone has answered a desktop. How strong its signal was is the desktop's word, and stands nowhere.
  static let presenceProved = Self("presence_proved")
}
