/// Who plays the demonstration's game, and where in it.
internal import Sockets
internal import Time

/// One player's line so far and place in the world.
final class Player {
  let number: UInt64
  let socket: Socket
  var line: [UInt8] = []
  var place = Place.gatehouse
  var isLeaving = false
  /// Of the fight that the player is in, and when the next one comes.
  var roundsLeft = 0
  var nextRound = MonotonicTime.never
  /// Of who has come without the gate.
  var login: Login?

  struct Login {
    /// What the gate is told, of this login alone: what is heard of another one is none of its.
    let id: String
    let name: String
    /// By what the code is asked about, once there is one.
    var challenge: String?
  }

  init(_ number: UInt64, _ socket: consuming Socket) {
    self.number = number
    self.socket = socket
  }

  func say(_ text: String) {
    let bytes = Array((text + "\r\n").utf8)
    _ = socket.send(bytes.span)
  }
}

enum Place: String {
  case gatehouse = "the gatehouse"
  case courtyard = "the courtyard"
  case tower = "the tower"

  var description: String {
    switch self {
    case .gatehouse: "You stand in the gatehouse, under an iron portcullis. Exits: north."
    case .courtyard: "You stand in the courtyard. A crow looks at you. Exits: south, up."
    case .tower: "You stand on the tower. The whole valley lies below. Exits: down."
    }
  }

  func next(_ direction: String) -> Place? {
    switch (self, direction) {
    case (.gatehouse, "north"): .courtyard
    case (.courtyard, "south"): .gatehouse
    case (.courtyard, "up"): .tower
    case (.tower, "down"): .courtyard
    default: nil
    }
  }
}
