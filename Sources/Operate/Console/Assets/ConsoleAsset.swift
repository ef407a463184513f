/// What pages fetch beside themselves. Good for anybody to see: the page for signing in needs them too.

enum ConsoleAsset: String, CaseIterable, Sendable {
  case style = "/style.css"
  case script = "/console.js"
  case icon = "/icon.svg"

  var path: ConsolePath {
    switch self {
    case .style: ConsolePath("/style.css")
    case .script: ConsolePath("/console.js")
    case .icon: ConsolePath("/icon.svg")
    }
  }

  var contentType: String {
    switch self {
    case .style: "text/css; charset=utf-8"
    case .script: "text/javascript; charset=utf-8"
    case .icon: "image/svg+xml"
    }
  }

  var bytes: [UInt8] {
    switch self {
    case .style: Self.shortStyle
    case .script: Self.shortScript
    case .icon: Array(Self.iconText.utf8)
    }
  }

  private static let shortStyle = short(styleSheet)
  private static let shortScript = short(scriptText)

  /// Without indentation, and without lines that are comments: what a browser reads and nobody else.
  private static func short(_ text: String) -> [UInt8] {
    var bytes: [UInt8] = []
    for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
      let line = line.drop { $0 == UInt8(ascii: " ") }
      if line.isEmpty || line.starts(with: "//".utf8) { continue }
      bytes += line
      bytes.append(UInt8(ascii: "\n"))
    }
    return bytes
  }

  /// A portcullis, in the colour of the text around it or of the tab it stands in.
  private static let iconText = """
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">
    <path d="M4 2v12M8 2v12M12 2v12M2 5h12M2 9h12" fill="none" stroke="#5b8def" stroke-width="2"/>
    </svg>

    """
}
