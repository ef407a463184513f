/// What `check` has found: lines in the order in which they were made, and the status that follows from the gravest.
package import Prompt

package struct CheckReport {
  package enum Grade: String {
    case ok
    case warning
    case problem
  }

  package private(set) var findings: [(grade: Grade, name: String, detail: String)] = []
  /// Of the gravest problem; nil without one.
  package private(set) var status: ExitStatus?

  package init() {}

  package mutating func ok(_ name: String, _ detail: String) { add(.ok, name, detail) }
  package mutating func warning(_ name: String, _ detail: String) { add(.warning, name, detail) }

  package mutating func problem(_ name: String, _ detail: String, _ status: ExitStatus) {
    add(.problem, name, detail)
    let grave: [ExitStatus] = [.unavailable, .ioError, .configuration]
    let old = self.status.flatMap { grave.firstIndex(of: $0) } ?? -1
    if grave.firstIndex(of: status) ?? 0 >= old { self.status = status }
  }

  private mutating func add(_ grade: Grade, _ name: String, _ detail: String) {
    findings.append((grade, name, detail))
  }

  package func print() throws {
    var output = Output()
    for (grade, name, detail) in findings { try output.line("\(grade.rawValue)  \(name)  \(detail)") }
    try output.flush()
  }
}
