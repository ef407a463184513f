/// Lines on a drawing, in whole units and in few bytes (SVG 2, "Path data").

struct Outline: Equatable, Sendable {
  private(set) var text = ""
  private var x = 0
  private var y = 0

  mutating func move(to x: Int, _ y: Int) {
    text += "M\(x) \(y)"
    (self.x, self.y) = (x, y)
  }

  mutating func line(to x: Int, _ y: Int) {
    let (right, down) = (x - self.x, y - self.y)
    switch (right, down) {
    case (0, 0): return
    case (0, _): text += "v\(down)"
    case (_, 0): text += "h\(right)"
    default: text += "l\(right)\(down < 0 ? "" : " ")\(down)"
    }
    (self.x, self.y) = (x, y)
  }
}
