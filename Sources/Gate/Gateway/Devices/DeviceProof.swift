/// The three fields of an upgrade by which a device comes in with its own key, and how they are judged
/// (docs/protocol.md, "Admission").
internal import Addresses
internal import Admission
internal import Bytes
internal import Crypto
internal import DeviceWire
internal import HTTPWire
internal import PortcullisProtocol
internal import Registry
internal import Requests
internal import SessionWire
internal import System
internal import Time
internal import Upstream

struct DeviceProof {
  let device: DeviceID
  let nonce: Bytes32
  let signature: DeviceSignature

  private static let names = [HeaderName.deviceID, HeaderName.deviceNonce, HeaderName.deviceSignature]

  static func isNamed(in head: RequestHead) -> Bool { names.contains(where: head.has) }

  /// Whom the peer says it is, before anything is proved.
  static func device(namedIn head: RequestHead) -> DeviceID? {
    head.value(HeaderName.deviceID).flatMap { DeviceID($0) }
  }

  init(_ head: RequestHead) throws(Refusal) {
    guard let device = head.value(HeaderName.deviceID), let nonce = head.value(HeaderName.deviceNonce),
      let signature = head.value(HeaderName.deviceSignature)
    else { throw Refusal(.badRequest, step: "device_header_missing") }
    guard let device = DeviceID(device) else { throw Refusal(.badRequest, step: "device_id") }
    guard let nonce = Bytes32(hex: nonce) else { throw Refusal(.badRequest, step: "nonce_hex") }
    guard let signature = DeviceSignature(base64: signature) else {
      throw Refusal(.badRequest, step: "device_signature")
    }
    self.device = device
    self.nonce = nonce
    self.signature = signature
  }

  func message(for server: ServerID) -> DeviceMessage {
    .deviceAuth(server: server, device: device, nonce: nonce, for: .upgrade)
  }
}

extension Connection {
  /// The loops do not know why: the registry does, and tells a client that can sign for the device.
  func refuseDevice(_ refusal: Refusal, to head: RequestHead, _ exchange: Exchange) {
    guard let devices = loop.shared.devices, let proof = try? DeviceProof(head) else {
      return refuse(refusal, to: head)
    }
    let pending = PendingRequest(
      RequestID(number: loop.nextRequestNumber()), .standing, head, now: loop.now)
    exchange.work(on: pending)
    let (mailbox, token, id) = (loop.mailbox, token, pending.id)
    let call = JudgeUpgrade(proof.device, nonce: SpentNonce(spent: proof.nonce), signature: proof.signature)
    let handle = devices.registry.submit(
      call, lane: .address(payer), origin: .address(source.address)
    ) { reply in mailbox.leave(.answer(token, id, .registry(reply))) }
    if handle == nil { return refuse(refusal, closing: pending.closesAfterAnswer) }
    workGoesOn(id, until: loop.now + Self.registryTimeout)
  }

  func answered(_ reply: Reply, toUpgrade pending: PendingRequest) {
    guard case .refused(let refusal) = reply else {
      return refuse(Refusal(.deviceUnknown, step: "device_unknown"), closing: pending.closesAfterAnswer)
    }
    refuse(Refusal(refusal), closing: pending.closesAfterAnswer)
  }

  /// The device that the fields prove, which may come in.
  func device(
    of head: RequestHead, _ devices: Devices, resuming resume: ResumeRequest?
  ) throws(Refusal) -> (device: ActiveDevices.Device, isBySessionsNonce: Bool) {
    if head.hasField(namePrefix: HeaderName.assertionPrefix) {
      throw Refusal(.badRequest, step: "assertion_and_device")
    }
    let proof = try DeviceProof(head)
    // As with an assertion, this uses up no challenge.
    if resume == nil, loop.shared.backends.failedRecently(now: loop.now) {
      throw Refusal(.backendUnavailable, step: "backend_failed_recently")
    }
    let isBySessionsNonce = loop.shared.isNonce(proof.nonce, of: resume)
    if !isBySessionsNonce {
      do throws(NonceRefusal) {
        _ = try loop.shared.challenges.check(proof.nonce, for: .purpose(.device))
      } catch {
        throw Refusal(.nonceInvalid, step: error.rawValue)
      }
    }
    guard let device = devices.admitted.device(proof.device) else {
      throw Refusal(.deviceUnknown, step: "device_unknown")
    }
    let message = proof.message(for: devices.registry.server)
    guard
      loop.verifier.isValidSignature(proof.signature.der.span, digest: message.hash, by: device.key)
    else { throw Refusal(.signatureRejected, step: "device_signature") }
    return (device, isBySessionsNonce)
  }
}
