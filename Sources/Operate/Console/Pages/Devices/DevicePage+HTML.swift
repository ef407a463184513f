/// `/devices/<id>` and what can be done to a device, as HTML and as JSON.
internal import System

extension DevicePage: ConsolePage {
  func html(_ frame: PageFrame) -> [UInt8] {
    let path = ConsolePath.device(device.id)
    let layout = Layout(entry: .devices, heading: device.title, above: ("Devices", .devices))
    return layout.html(frame) { html in
      html.element(.div, .class(.panel)) { $0.facts(facts) }
      if frame.mayChange, device.state != .revoked {
        html.element(.p, .class(.actions)) { html in
          if device.state == .pending {
            html.element(.a, .class(.button), .href(path.appending("confirm")), text: "Confirm this device…")
          }
          html.element(
            .a, .class(.button, .danger), .href(path.appending("revoke")), text: "Revoke this device…")
        }
      }
      html.section("Last refusals") { $0.table(RefusalRow.lastTable(refusals, of: "device")) }
      html.section("Sessions") { $0.table(SessionRow.table(sessions, of: "device", mayEnd: frame.mayChange)) }
    }
  }

  func live() -> LiveAnswer {
    var answer = LiveAnswer()
    answer.add(facts)
    answer.add(SessionRow.table(sessions, of: "device"))
    answer.add(RefusalRow.lastTable(refusals, of: "device"))
    return answer
  }

  private var facts: [Fact] {
    [
      Fact("Device", .code(device.id)),
      Fact("State", device.standing, live: "state"),
      Fact("Subject", .optional(device.subject)),
      Fact("Platform", .text(device.platform)),
      Fact("Its keys", device.levelCell),
      Fact("The person is verified by", .text(device.verification)),
      Fact("Says that it is rooted", isRooted ? .standing(.bad, "yes") : .none),
      Fact("App's version", .optional(appVersion)),
      Fact("System's patches", .optional(patchLevel)),
      Fact("App Attest key", keyID.map { .link(.code($0), .key($0)) } ?? .none),
      Fact("Takes the place of", replaces.map { .link(.code($0), .device($0)) } ?? .none),
      Fact("Excepted until", .optional(exceptionUntil)),
      Fact("Excepted because", .optional(sentence: exceptionReason)),
      Fact("Enrolled", .time(device.createdAt)),
      Fact("Confirmed", .optional(activatedAt)),
      Fact("Attested", .optional(attestedAt)),
      Fact("Attested by Play", .optional(playAttestedAt)),
      Fact("Attestation failed", .optional(attestationFailedAt)),
      Fact("Last seen", .optional(device.seenAt), live: "seen"),
      Fact("Revoked", .optional(revokedAt)),
    ]
  }
}

extension DeviceRow {
  /// What tells it from another, where something is asked of it.
  fileprivate var facts: [Fact] {
    [
      Fact("Device", .code(id)), Fact("Name", .optional(name)), Fact("Subject", .optional(subject)),
      Fact("Platform", .text(platform)), Fact("Its keys", levelCell), Fact("Enrolled", .time(createdAt)),
    ]
  }
}

extension ConfirmDevicePage: ConsolePage {
  func html(_ frame: PageFrame) -> [UInt8] {
    let path = ConsolePath.device(device.id)
    let layout = Layout(
      entry: .devices, heading: "Confirm \(device.title)?", lede: lede, above: ("Devices", .devices),
      problems: problems)
    return layout.html(frame) { html in
      html.element(.div, .class(.panel)) { html in
        html.facts(
          device.facts + [
            Fact("Paired for", .optional(pairing?.subject)),
            Fact("Time to confirm it", pairing.map { .ends($0.expiresAt) } ?? .none),
            Fact("Tries left", pairing.map { .number($0.triesLeft) } ?? .none),
          ])
      }
      html.change(
        path.appending("confirm"), frame, button: "Confirm the device", back: ("Leave it as it is", .devices)
      ) { html in
        if pairing != nil {
          html.field(
            .digits, "Six digits", value: "", hint: "As the phone shows them now", problems: problems,
            longest: 11, isDigits: true)
        }
        // Whose phone it is that is being paired was said when the code was made.
        if pairing == nil {
          html.field(
            .subject, "Subject", value: subject, hint: "Whose phone it is; may be empty", problems: problems)
        }
      }
    }
  }

  private var lede: String {
    pairing == nil
      ? "This phone has enrolled by itself and shows no digits. Confirm it only if you know by another way that it "
        + "is the one: compare its id with the person who has it."
      : "Look at the phone, or have its owner read the digits to you. Only the phone that scanned the code shows them: "
        + "digits that differ are somebody between you."
  }

  func live() -> LiveAnswer { LiveAnswer() }
}

extension RevokeDevicePage: ConsolePage {
  func html(_ frame: PageFrame) -> [UInt8] {
    let path = ConsolePath.device(device.id)
    let layout = Layout(
      entry: .devices, heading: "Revoke \(device.title)?",
      lede:
        "The device and its keys are refused from now on, for good, and so is its App Attest key. Votes that still "
        + "wait are taken back, and leases that rest on them end.",
      above: (device.title, path), problems: problems)
    return layout.html(frame) { html in
      html.element(.div, .class(.panel)) {
        $0.facts(device.facts + [Fact("Sessions that end", .number(sessions))])
      }
      html.change(
        path.appending("revoke"), frame, button: "Revoke the device", isDanger: true,
        back: ("Leave it as it is", path))
    }
  }

  func live() -> LiveAnswer { LiveAnswer() }
}
