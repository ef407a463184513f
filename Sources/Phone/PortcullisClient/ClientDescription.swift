/// What an app says of itself to the game.

/// Who the app is, and how large its window. The gate keeps at most 512 bytes of it; what would be more is refused whole.
public struct ClientDescription: Equatable, Sendable {
  /// The app's name: 1 to 40 printable ASCII characters, as are `version` and `terminal`. Nil: the gate's own word.
  public var name: String?
  /// The app's version.
  public var version: String?
  /// What the app shows text like, such as `XTERM-256COLOR`, which is what the gate says where this is nil.
  public var terminal: String?
  /// What the app can do: `truecolor`, `screen_reader`. Others are ignored.
  public var features: [String]
  /// The width of the text in characters, up to 65,535; nil: not known.
  public var columns: Int?
  /// The height of the text in lines, up to 65,535; nil: not known.
  public var rows: Int?
  /// GMCP packages that the app wants, with their versions, such as `Char 1`.
  public var gmcp: [String]

  /// - Parameters:
  ///   - name: the app's.
  ///   - version: the app's.
  ///   - terminal: as `TERM` says it.
  ///   - features: words that the gate knows.
  ///   - columns: of the text, in characters.
  ///   - rows: of the text, in lines.
  ///   - gmcp: packages with their versions.
  public init(
    name: String? = nil, version: String? = nil, terminal: String? = nil, features: [String] = [],
    columns: Int? = nil, rows: Int? = nil, gmcp: [String] = []
  ) {
    self.name = name
    self.version = version
    self.terminal = terminal
    self.features = features
    self.columns = columns
    self.rows = rows
    self.gmcp = gmcp
  }
}
