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
    case .style: Array(Self.styleSheet.utf8)
    case .script: Array(Self.scriptText.utf8)
    case .icon: Array(Self.iconText.utf8)
    }
  }

  /// A portcullis, in the colour of the text around it or of the tab it stands in.
  private static let iconText = """
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">
    <path d="M4 2v12M8 2v12M12 2v12M2 5h12M2 9h12" fill="none" stroke="#5b8def" stroke-width="2"/>
    </svg>

    """
}
