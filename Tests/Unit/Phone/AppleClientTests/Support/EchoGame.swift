/// A game on loopback that says again what it hears.
internal import Glibc
internal import System

final class EchoGame: Sendable {
  let port: UInt16
  private let listener: OwnedDescriptor

  init() throws {
    let number: Int32
    (number, port) = Loopback.listen()
    listener = OwnedDescriptor(owning: number)
    let thread = try Thread(name: "game") {
      while true {
        let accepted = accept(number, nil, nil)
        if accepted < 0 { return }
        do {
          let player = try Thread(name: "player") { Self.serve(OwnedDescriptor(owning: accepted)) }
          player.detach()
        } catch {
          fatalError("\(error)")
        }
      }
    }
    thread.detach()
  }

  deinit { _ = shutdown(listener.number, Int32(SHUT_RDWR)) }

  private static func serve(_ player: consuming OwnedDescriptor) {
    var bytes = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = unsafe read(player.number, &bytes, bytes.count)
      if count <= 0 { return }
      _ = unsafe send(player.number, bytes, count, Int32(MSG_NOSIGNAL))
    }
  }
}

enum Loopback {
  /// A socket that listens, and its port.
  static func listen() -> (descriptor: Int32, port: UInt16) {
    let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    // The address is this call's own, and as long as it says.
    let port = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        guard unsafe bind(number, address, length) == 0, Glibc.listen(number, 16) == 0,
          unsafe getsockname(number, address, &length) == 0
        else { fatalError("no socket on loopback: \(errno)") }
      }
      return unsafe UInt16(bigEndian: pointer.pointee.sin_port)
    }
    return (number, port)
  }
}
