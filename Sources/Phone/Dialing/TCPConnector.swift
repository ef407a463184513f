/// Opens a TCP connection: resolves, tries each address in turn, within one deadline.
internal import CLinux
internal import Glibc
package import System

package enum TCPConnector {
  /// All addresses of a host, of both families, in the resolver's order: those too that nothing leads to from here.
  package static func addresses(of host: String) throws(GateClientError) -> [String] {
    var hints = unsafe addrinfo()
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var first: UnsafeMutablePointer<addrinfo>? = nil
    let status = unsafe getaddrinfo(host, nil, &hints, &first)
    guard status == 0 else {
      // The text is a constant of the C library, copied at once.
      throw .unresolved(host: host, reason: unsafe String(cString: gai_strerror(status)))
    }
    // The list belongs to this call until here, and every address in it to the list.
    defer { unsafe freeaddrinfo(first) }
    var found: [String] = []
    var next = unsafe first
    while let candidate = unsafe next {
      var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
      let named = unsafe getnameinfo(
        candidate.pointee.ai_addr, candidate.pointee.ai_addrlen, &text, socklen_t(text.count), nil, 0,
        NI_NUMERICHOST)
      let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
      let address = String(decoding: bytes, as: UTF8.self)
      if named == 0, !found.contains(address) { found.append(address) }
      unsafe next = candidate.pointee.ai_next
    }
    return found
  }

  /// Non-blocking, without Nagle's delay.
  package static func connect(host: String, port: UInt16, _ deadline: Deadline) throws(GateClientError)
    -> OwnedDescriptor
  {
    var hints = unsafe addrinfo()
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    unsafe hints.ai_flags = AI_NUMERICSERV
    var first: UnsafeMutablePointer<addrinfo>? = nil
    let status = unsafe getaddrinfo(host, String(port), &hints, &first)
    guard status == 0 else {
      // The text is a constant of the C library, copied at once.
      throw .unresolved(host: host, reason: unsafe String(cString: gai_strerror(status)))
    }
    // The list belongs to this call until here, and every address in it to the list.
    defer { unsafe freeaddrinfo(first) }
    var failure = SystemError("connect", EADDRNOTAVAIL)
    var next = unsafe first
    while let candidate = unsafe next {
      do throws(SystemError) {
        return try unsafe connect(to: candidate.pointee, deadline)
      } catch {
        failure = error
      }
      unsafe next = candidate.pointee.ai_next
    }
    throw failure.number == ETIMEDOUT && deadline.hasPassed
      ? .timedOut(during: "connect") : .unreachable(failure)
  }

  private static func connect(to address: addrinfo, _ deadline: Deadline) throws(SystemError)
    -> OwnedDescriptor
  {
    let number = unsafe portcullis_socket(address.ai_family, address.ai_socktype)
    guard number >= 0 else { throw SystemError("socket") }
    let socket = OwnedDescriptor(owning: number)
    var one: Int32 = 1
    _ = unsafe setsockopt(number, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    if unsafe Glibc.connect(number, address.ai_addr, address.ai_addrlen) == 0 { return socket }
    guard errno == EINPROGRESS || errno == EINTR else { throw SystemError("connect") }
    if try deadline.wait(for: number, POLLOUT) == .timedOut { throw SystemError("connect", ETIMEDOUT) }
    var error: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    guard unsafe getsockopt(number, SOL_SOCKET, SO_ERROR, &error, &length) == 0 else {
      throw SystemError("connect")
    }
    guard error == 0 else { throw SystemError("connect", error) }
    return socket
  }
}
