/// Lines on a drawing, in whole units and in few bytes (SVG 2, "Path data").

struct Outline: Equatable, Sendable {
  private(set) var text = ""
  private var x = 0
  private var y = 0
  private var isAmidLine = false

  mutating func move(to x: Int, _ y: Int) {
    text += "M\(x) \(y)"
    (self.x, self.y, isAmidLine) = (x, y, false)
  }

  mutating func line(to x: Int, _ y: Int) {
    // The letter holds for all that follow.
    text += isAmidLine ? " " : "l"
    let down = y - self.y
    text += "\(x - self.x)\(down < 0 ? "" : " ")\(down)"
    (self.x, self.y, isAmidLine) = (x, y, true)
  }
}
