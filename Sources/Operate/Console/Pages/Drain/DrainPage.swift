/// `/drain`: no new players. Posts to `/drain` (begin), `/undrain`, and `/drain/end` (end all sessions).

struct DrainPage: Sendable {
  var isDraining: Bool
  /// Whether it cannot be taken back.
  var isFinal: Bool
  var attached: Int
  var detached: Int
  /// Those that would outlive a restart.
  var kept: Int
  var problems: [FieldProblem] = []
}

/// `/drain/end`: asks whether it is meant, and posts to itself.
struct EndAllPage: Sendable {
  var sessions: Int
  var problems: [FieldProblem] = []
}
