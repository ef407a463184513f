/// A game on loopback that says again what it hears.
internal import Glibc
internal import System

final class EchoGame: Sendable {
  private let listener: Listener
  var port: UInt16 { listener.port }

  init() throws {
    listener = Listener()
    try listener.serve { Self.serve($0) }
  }

  deinit { listener.end() }

  private static func serve(_ player: consuming OwnedDescriptor) {
    var bytes = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = unsafe read(player.number, &bytes, bytes.count)
      if count <= 0 { return }
      _ = unsafe send(player.number, bytes, count, Int32(MSG_NOSIGNAL))
    }
  }
}

/// A socket on loopback that listens. Its thread holds it: a number that was closed under it might be another one's by then.
final class Listener: Sendable {
  let port: UInt16
  private let descriptor: OwnedDescriptor

  init() {
    let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    // The address is this call's own, and as long as it says.
    port = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        guard unsafe bind(number, address, length) == 0, Glibc.listen(number, 16) == 0,
          unsafe getsockname(number, address, &length) == 0
        else { fatalError("no socket on loopback: \(errno)") }
      }
      return unsafe UInt16(bigEndian: pointer.pointee.sin_port)
    }
    descriptor = OwnedDescriptor(owning: number)
  }

  /// Each connection on a thread of its own.
  func serve(_ connection: @escaping @Sendable (consuming OwnedDescriptor) -> Void) throws {
    let thread = try Thread(name: "listener") { [self] in
      while true {
        let accepted = accept(descriptor.number, nil, nil)
        if accepted < 0 { return }
        do {
          let peer = try Thread(name: "peer") { connection(OwnedDescriptor(owning: accepted)) }
          peer.detach()
        } catch {
          fatalError("\(error)")
        }
      }
    }
    thread.detach()
  }

  func end() { _ = shutdown(descriptor.number, Int32(SHUT_RDWR)) }
}
