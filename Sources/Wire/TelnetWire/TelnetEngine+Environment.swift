/// NEW-ENVIRON (RFC 1572) with the variables of MNES: what a game may ask about the client.

/// What the variables stand for now.
struct TelnetEnvironment: Equatable {
  struct Variable: Equatable {
    let kind: UInt8
    let name: [UInt8]
    let value: [UInt8]?
  }

  let variables: [Variable]

  static let variable: UInt8 = 0
  static let value: UInt8 = 1
  static let escape: UInt8 = 2
  static let userVariable: UInt8 = 3

  subscript(kind: UInt8, name: [UInt8]) -> [UInt8]? {
    variables.first { $0.kind == kind && $0.name == name }?.value
  }
}

extension TelnetEngine {
  /// Nil while nothing is known of the app.
  var environment: TelnetEnvironment? {
    guard let client else { return nil }
    func variable(_ name: String, _ value: [UInt8]?, kind: UInt8 = TelnetEnvironment.variable)
      -> TelnetEnvironment.Variable
    {
      TelnetEnvironment.Variable(kind: kind, name: Array(name.utf8), value: value)
    }
    return TelnetEnvironment(variables: [
      variable("IPADDRESS", settings.address),
      variable("CLIENT_NAME", client.nameOrDefault),
      variable("CLIENT_VERSION", client.version?.bytes),
      variable("TERMINAL_TYPE", client.terminalOrDefault),
      variable("MTTS", client.capabilities(isUTF8: charset.isUTF8)),
      variable("CHARSET", charset.name),
      variable("CLIENT_STATE", Array((state.isAttached ? "attached" : "detached").utf8)),
      variable("PORTCULLIS_DEVICE", settings.device, kind: TelnetEnvironment.userVariable),
    ])
  }

  /// The same where the game wants to hear of changes; nothing is put together for others.
  var environmentInUse: TelnetEnvironment? { state.ofGate.contains(.newEnvironment) ? environment : nil }

  /// - Parameter names: what stands behind SEND.
  mutating func askedForEnvironment(_ names: [UInt8], _ output: inout [UInt8]) {
    // Nothing at all asks for everything.
    let names = names.isEmpty ? [TelnetEnvironment.variable, TelnetEnvironment.userVariable] : names
    guard let environment else {
      // Lists that follow one another ask for the same as one list of all.
      if (environmentDue?.count ?? 0) + names.count <= Self.subnegotiationLimit {
        environmentDue = (environmentDue ?? []) + names
      }
      return
    }
    var answer: [UInt8] = [Self.is]
    for (kind, name) in Self.asked(in: names) {
      if name.isEmpty {
        for variable in environment.variables where variable.kind == kind && variable.value != nil {
          Self.append(kind, variable.name, variable.value, to: &answer)
        }
      } else {
        Self.append(kind, name, environment[kind, name], to: &answer)
      }
    }
    TelnetWriter.subnegotiation(.newEnvironment, answer, to: &output)
  }

  mutating func sayEnvironmentDue(_ output: inout [UInt8]) {
    guard let names = environmentDue else { return }
    environmentDue = nil
    askedForEnvironment(names, &output)
  }

  /// INFO for each variable whose value has changed since it was `before` (`environmentInUse`).
  func sayEnvironmentChanges(since before: TelnetEnvironment?, _ output: inout [UInt8]) {
    guard let before, let environment = environmentInUse, before != environment else { return }
    var info: [UInt8] = [Self.info]
    for (old, new) in zip(before.variables, environment.variables) where old != new {
      Self.append(new.kind, new.name, new.value, to: &info)
    }
    TelnetWriter.subnegotiation(.newEnvironment, info, to: &output)
  }

  /// The names in a list with their kinds, at most `namesLimit`; an empty one asks for all of its kind. What is no name
  /// is passed over.
  private static func asked(in list: [UInt8]) -> [(kind: UInt8, name: [UInt8])] {
    var asked: [(kind: UInt8, name: [UInt8])] = []
    var isName = false
    var index = 0
    while index < list.count {
      let byte = list[index]
      index += 1
      switch byte {
      case TelnetEnvironment.variable, TelnetEnvironment.userVariable:
        if asked.count == namesLimit { return asked }
        asked.append((byte, []))
        isName = true
      case TelnetEnvironment.value:
        isName = false
      case TelnetEnvironment.escape:
        guard index < list.count else { break }
        if isName { asked[asked.count - 1].name.append(list[index]) }
        index += 1
      default:
        if isName { asked[asked.count - 1].name.append(byte) }
      }
    }
    return asked
  }

  private static func append(_ kind: UInt8, _ name: [UInt8], _ value: [UInt8]?, to answer: inout [UInt8]) {
    answer.append(kind)
    appendEscaped(name, to: &answer)
    guard let value else { return }
    answer.append(TelnetEnvironment.value)
    appendEscaped(value, to: &answer)
  }

  private static func appendEscaped(_ text: [UInt8], to answer: inout [UInt8]) {
    for byte in text {
      if byte <= TelnetEnvironment.userVariable { answer.append(TelnetEnvironment.escape) }
      answer.append(byte)
    }
  }

  private static let info: UInt8 = 2
  /// Of one request, answered: the answer stays in proportion to the question.
  private static let namesLimit = 64
}
