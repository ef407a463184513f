/// What answers a request of one endpoint: the call of the registry that is read from its head, or from its body as well.
package import Admission
package import DeviceWire
internal import PortcullisProtocol
package import Registry

package enum EndpointAnswer: Sendable {
  /// The keys that tokens are signed with, which the gate has at hand.
  case keySet
  /// From the identifier in the path, where it has one; nil where it is none.
  case registry(@Sendable (String?) -> RequestReader?)
}

/// Bound to what its path names.
package enum RequestReader: Sendable {
  /// A request that is whole with its head.
  case plain(@Sendable (DeviceRequest) throws(Refusal) -> any RegistryCall)
  case withBody(@Sendable (DeviceBody) throws(Refusal) -> DeviceStep)
}

/// A whole request: its body's form, and what the form is read with.
package struct DeviceBody {
  package let request: DeviceRequest
  package let form: Form
  let server: ServerID
  let challenges: any RequestChallenges

  package init(
    _ request: DeviceRequest, _ form: Form, server: ServerID, challenges: any RequestChallenges
  ) {
    self.request = request
    self.form = form
    self.server = server
    self.challenges = challenges
  }

  var token: String { request.token }
}

// MARK: As the table writes it

extension EndpointAnswer {
  static func plain(
    _ read: @escaping @Sendable (DeviceRequest) throws(Refusal) -> any RegistryCall
  ) -> Self {
    .registry { _ in .plain(read) }
  }

  static func plain<Kind>(
    _ read: @escaping @Sendable (Identifier<Kind>, DeviceRequest) throws(Refusal) -> any RegistryCall
  ) -> Self {
    named { (id: Identifier<Kind>) in .plain { request throws(Refusal) in try read(id, request) } }
  }

  static func withBody(
    _ read: @escaping @Sendable (DeviceBody) throws(Refusal) -> DeviceStep
  ) -> Self {
    .registry { _ in .withBody(read) }
  }

  static func withBody<Kind>(
    _ read: @escaping @Sendable (Identifier<Kind>, DeviceBody) throws(Refusal) -> DeviceStep
  ) -> Self {
    named { (id: Identifier<Kind>) in .withBody { body throws(Refusal) in try read(id, body) } }
  }

  /// Where the call is all in the form.
  static func form(
    _ read: @escaping @Sendable (DeviceBody) throws(FormError) -> any RegistryCall
  ) -> Self {
    .withBody { body throws(Refusal) in
      .call(try Refusal.reading { () throws(FormError) in try read(body) })
    }
  }

  static func form<Kind>(
    _ read: @escaping @Sendable (Identifier<Kind>, DeviceBody) throws(FormError) -> any RegistryCall
  ) -> Self {
    .withBody { (id: Identifier<Kind>, body) throws(Refusal) in
      .call(try Refusal.reading { () throws(FormError) in try read(id, body) })
    }
  }

  private static func named<Kind>(
    _ bind: @escaping @Sendable (Identifier<Kind>) -> RequestReader
  ) -> Self {
    .registry { text in text.flatMap { Identifier<Kind>($0) }.map(bind) }
  }
}

extension Refusal {
  /// What `form` comes to; a member that is wrong is refused by its name.
  package static func reading<Value>(
    _ form: () throws(FormError) -> Value
  ) throws(Refusal) -> Value {
    do throws(FormError) {
      return try form()
    } catch {
      throw Refusal(
        .badRequest, step: error.step, sentence: UnjudgedEvidence(step: error.step)?.sentence,
        field: error.member)
    }
  }
}
