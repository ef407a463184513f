/// The documents that follow the table: the example file and the tables of docs/settings.md.
extension SettingTable {
  /// `config/portcullis.env.example`, byte for byte.
  package static func exampleFile() -> String {
    var text = """
      # Settings of Portcullis, with their defaults. Copy this file, remove the # before a line, change
      # its value, and run: portcullis serve --config FILE. Variables of the environment win over the file.
      # NAME=value a line, values with blanks in 'single' or "double" quotes; nothing is expanded.
      # Durations: ms, s, m, h, d (a bare number is seconds). Sizes: KiB, MiB (a bare number is bytes).
      # Rates: /s, /m.
      # [reload] marks what SIGHUP takes over without a restart.

      """
    for group in SettingGroup.allCases {
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
      for setting in settings where setting.group == group {
        let standard = setting.defaultText.map { "`\($0)`" } ?? setting.defaultNote ?? ""
        text +=
          "| `\(setting.name)` | \(standard) | \(setting.isReloadable ? "yes" : "") | \(setting.reason) |\n"
      }
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
