/// The part of `portcullis check` that looks outwards: the game, and the addresses to listen on.
import Addresses
package import Configuration
import Control
import Prompt
import Sockets
import System
import Time

package struct ReachChecks {
  package let configuration: GateConfiguration
  /// A gate answers on the control socket: then it is who has the addresses.
  package let isRunning: Bool

  package init(configuration: GateConfiguration, isRunning: Bool) {
    self.configuration = configuration
    self.isRunning = isRunning
  }

  package func check(_ report: inout CheckReport) {
    checkBackend(&report)
    for endpoint in configuration.listen { checkListen(endpoint, &report) }
    if isRunning {
      report.ok("control_socket", "a gate answers at \(configuration.controlSocketPath)")
    } else {
      report.ok("control_socket", "no gate is running at \(configuration.controlSocketPath)")
    }
  }

  private func checkBackend(_ report: inout CheckReport) {
    let target = configuration.backend.target
    do {
      let addresses: [SocketAddress]
      switch target {
      case .echo:
        report.warning("backend", "echo: no game, each message comes back")
        return
      case .unix(let path): addresses = [.unix(path: path)]
      case .tcp(let host, let port):
        addresses =
          try IPAddress(host).map { [.internet(Endpoint(address: $0, port: port))] }
          ?? NameResolver.resolve(host, port: port)
      }
      var failure = "no address"
      for address in addresses {
        guard let reason = connectFailure(address) else {
          report.ok("backend", "\(target) answers at \(address)")
          return
        }
        failure = "\(address): \(reason)"
      }
      report.problem(
        "backend", "\(target) does not answer: \(failure); start the game or set BACKEND", .unavailable)
    } catch {
      report.problem(
        "backend",
        "BACKEND=\(target) cannot be resolved: \(error); correct the host's name, or add it to DNS or /etc/hosts",
        .unavailable)
    }
  }

  /// Nil when it is connected.
  private func connectFailure(_ address: SocketAddress) -> String? {
    let deadline = SystemClock().monotonic() + configuration.limits.backendConnectTimeout
    do throws(SystemError) {
      let socket = try Socket.connecting(to: address)
      guard socket.wait(for: .writing, until: deadline) == .ready else { return "no answer in time" }
      return socket.connectFailure()?.description
    } catch {
      return error.description
    }
  }

  private func checkListen(_ endpoint: Endpoint, _ report: inout CheckReport) {
    do throws(SystemError) {
      try Listener.probe(endpoint)
      report.ok("listen", "\(endpoint) is free")
    } catch {
      if isRunning {
        report.ok("listen", "\(endpoint) is taken, while a gate is running")
      } else {
        report.problem(
          "listen", "\(endpoint): \(error); free the address, or set LISTEN to another", .unavailable)
      }
    }
  }
}
