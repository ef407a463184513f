/// Socket addresses as values: IPv4, IPv6 or a UNIX path, and their passage to and from the kernel's form.
package import Addresses
internal import CLinux
internal import Glibc
internal import System

package enum SocketAddress: Equatable, Sendable, CustomStringConvertible {
  case internet(Endpoint)
  /// A path of at most 107 bytes.
  case unix(path: String)

  package var description: String {
    switch self {
    case .internet(let endpoint): endpoint.description
    case .unix(let path): "unix:\(path)"
    }
  }

  package var endpoint: Endpoint? {
    switch self {
    case .internet(let endpoint): endpoint
    case .unix: nil
    }
  }

  var family: Int32 {
    switch self {
    case .internet(let endpoint): endpoint.address.family == .v4 ? AF_INET : AF_INET6
    case .unix: AF_UNIX
    }
  }

  /// Nil for a UNIX socket's peer, which has no address.
  init?(_ address: portcullis_address) {
    var address = address
    var bytes = [UInt8](repeating: 0, count: 16)
    var port: UInt16 = 0
    // The call writes at most 16 bytes, and the array has 16.
    let count = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
      unsafe portcullis_address_read(&address, buffer.baseAddress, &port)
    }
    guard count > 0, let ip = IPAddress(networkBytes: bytes.span.extracting(0..<Int(count))) else {
      return nil
    }
    self = .internet(Endpoint(address: ip, port: port))
  }

  func kernelForm() throws(SystemError) -> portcullis_address {
    switch self {
    case .internet(let endpoint):
      let bytes = endpoint.address.networkBytes
      return unsafe bytes.withUnsafeBufferPointer { buffer in
        unsafe portcullis_address_internet(buffer.baseAddress, Int32(buffer.count), endpoint.port)
      }
    case .unix(let path):
      var address = portcullis_address()
      let failed = unsafe path.withCString { path in unsafe portcullis_address_unix(&address, path) != 0 }
      if failed { throw SystemError("unix socket path", ENAMETOOLONG) }
      return address
    }
  }
}

/// Names to addresses by the system's resolver; it may take seconds, so never on a loop.
package enum NameResolver {
  package struct Failure: Error, Equatable, Sendable, CustomStringConvertible {
    package let description: String
  }

  /// At most 16 addresses, in the resolver's order of preference.
  package static func resolve(_ name: String, port: UInt16) throws(Failure) -> [SocketAddress] {
    var found = [portcullis_address](repeating: portcullis_address(), count: 16)
    var code: Int32 = 0
    // The call fills at most 16 elements, and the array has 16.
    let count = unsafe found.withUnsafeMutableBufferPointer { buffer in
      unsafe name.withCString { name in
        unsafe portcullis_resolve(name, port, buffer.baseAddress, Int32(buffer.count), &code)
      }
    }
    guard count >= 0 else {
      throw Failure(description: unsafe String(cString: portcullis_resolve_error(code)))
    }
    return found.prefix(Int(count)).compactMap(SocketAddress.init)
  }
}
