/// `/drain`: no new players. Posts to `/drain` (begin), `/undrain`, and `/drain/end` (end all sessions).

package struct DrainPage: Sendable {
  package var isDraining: Bool
  /// Whether it cannot be taken back.
  package var isFinal: Bool
  package var attached: Int
  package var detached: Int
  /// Those that would outlive a restart.
  package var kept: Int
  package var problems: [FieldProblem]

  package init(
    isDraining: Bool, isFinal: Bool, attached: Int, detached: Int, kept: Int, problems: [FieldProblem] = []
  ) {
    self.isDraining = isDraining
    self.isFinal = isFinal
    self.attached = attached
    self.detached = detached
    self.kept = kept
    self.problems = problems
  }
}

/// `/drain/end`: asks whether it is meant, and posts to itself.
package struct EndAllPage: Sendable {
  package var sessions: Int
  package var problems: [FieldProblem]

  package init(sessions: Int, problems: [FieldProblem] = []) {
    self.sessions = sessions
    self.problems = problems
  }
}
