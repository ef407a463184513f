/// The documents that follow the table: the example file and the tables of docs/settings.md.
extension SettingTable {
  /// Those with which an operator begins.
  static let first = [
    "PORTCULLIS_ENV", "LISTEN", "TLS_CERT_PATH", "TLS_KEY_PATH", "BACKEND", "APPATTEST_APP_IDS",
    "APPATTEST_ENVIRONMENT", "ATTESTED_KEYS_PATH", "CONTROL_SOCKET", "RUN_AS", "LOG_LEVEL", "ADMIN_LISTEN",
  ]

  /// `config/portcullis.env.example`, byte for byte: what a gate begins with.
  package static func exampleFile() -> String {
    file(
      "The first settings of Portcullis, with their defaults; all-settings.env has every one.",
      current.filter { first.contains($0.name) })
  }

  /// `config/all-settings.env`, byte for byte.
  package static func allSettingsFile() -> String {
    file("All settings of Portcullis, with their defaults.", current)
  }

  private static func file(_ title: String, _ settings: [Setting]) -> String {
    var text = """
      # \(title)
      # Copy this file, remove the # before a line, change its value, and run: portcullis serve --config
      # FILE. Variables of the environment win over the file.
      # NAME=value a line, values with blanks in 'single' or "double" quotes; nothing is expanded.
      # Durations: ms, s, m, h, d (a bare number is seconds). Sizes: KiB, MiB (a bare number is bytes).
      # Rates: /s, /m.
      # [reload] marks what SIGHUP takes over without a restart.

      """
    for group in SettingGroup.allCases where settings.contains(where: { $0.group == group }) {
      text += "\n# ---- \(group.rawValue)\n"
      for setting in settings where setting.group == group {
        text += "\n"
        for line in wrapped(setting.reason + (setting.isReloadable ? " [reload]" : ""), to: 108) {
          text += "# \(line)\n"
        }
        for line in wrapped("Write \(setting.form).", to: 108) { text += "# \(line)\n" }
        if let note = setting.defaultNote { text += "# Not set: \(note).\n" }
        text += "#\(setting.name)=\(setting.defaultText ?? "")\n"
      }
    }
    return text
  }

  /// The tables of docs/settings.md: one section a group.
  package static func markdownTable() -> String {
    var text = ""
    for group in SettingGroup.allCases {
      text += text.isEmpty ? "" : "\n"
      text += "### \(group.rawValue)\n\n| variable | default | reload | what and why |\n|---|---|---|---|\n"
      for setting in current where setting.group == group {
        let standard = setting.defaultText.map { "`\($0)`" } ?? setting.defaultNote ?? ""
        text +=
          "| `\(setting.name)` | \(standard) | \(setting.isReloadable ? "yes" : "") | \(setting.reason) |\n"
      }
    }
    return text
  }

  /// The table of former names in docs/settings.md.
  package static func markdownOfFormerNames() -> String {
    var text = "| before | now | without it | what it sets |\n|---|---|---|---|\n"
    for setting in settings {
      guard let successor = setting.successor else { continue }
      text += "| `\(setting.name)` | `\(successor)` | \(setting.defaultNote ?? "") | \(setting.reason) |\n"
    }
    return text
  }

  private static func wrapped(_ text: String, to width: Int) -> [String] {
    var lines: [String] = []
    for word in text.split(separator: " ") {
      if let last = lines.last, last.count + 1 + word.count <= width {
        lines[lines.count - 1] = "\(last) \(word)"
      } else {
        lines.append(String(word))
      }
    }
    return lines
  }
}
