/// How a session does what a machine asks for, one step after the other.
internal import PortcullisProtocol

/// What a machine's steps are done with.
struct MachineContext {
  var keys: DeviceRecord.KeyNames
  var newKeys: DeviceRecord.KeyNames?
  /// What a person is shown who is asked for a signature.
  var reason = ""
  var show: (@Sendable (PairingDigits) -> Void)?
  /// On the session's clock: pauses beyond it are the end.
  var deadline = Double.infinity
}

extension DeviceSession {
  func run<Machine: DeviceMachine>(
    _ machine: Machine, _ context: MachineContext
  ) async throws(DeviceFailure) -> Machine.Outcome {
    var machine = machine
    var context = context
    var news = DeviceNews.begun
    while true {
      switch machine.take(news) {
      case .ask(let step):
        news = try await done(step, &context)
        await tellVoucher(step, news)
      case .done(let outcome): return outcome
      case .failed(let failure):
        heed(failure)
        throw failure
      case nil: fatalError("a machine does not wait for the news of what it has asked for")
      }
    }
  }

  private func done(_ step: DeviceStep, _ context: inout MachineContext) async throws(DeviceFailure)
    -> DeviceNews
  {
    switch step {
    case .challenge(let purpose):
      do throws(DeviceFailure) { return .challenged(try await challenge(for: purpose)) } catch {
        return .unanswered(error)
      }
    case .vouch(let points, let challenge, let isKnown):
      guard let voucher else { throw DeviceFailure(.unsupported, "nothing vouches for this phone's keys") }
      do { return .vouched(try await voucher.evidence(for: points, challenge, isKnown: isKnown)) } catch {
        throw DeviceFailure(ofVoucher: error)
      }
    case .sign(let message, let signers):
      return .signed(try await signatures(of: message, by: signers, context))
    case .send(let call): return await answer(to: call)
    case .show(let digits, let call):
      context.show?(digits)
      return await answer(to: call)
    case .pause(let seconds, let failure):
      guard clock.now() + seconds < context.deadline else { throw failure }
      do { try await clock.sleep(seconds) } catch { throw DeviceFailure(.cancelled, "cancelled") }
      return .paused
    case .makeKeys(let withApproval):
      let names = try await makeKeys(withApproval: withApproval)
      try await remember { $0.newKeys = names }
      context.newKeys = names
      return .made(try await points(of: names))
    }
  }

  /// The next assertion of a key is made once the gate has the last one.
  private func tellVoucher(_ step: DeviceStep, _ news: DeviceNews) async {
    switch (step, news) {
    case (.send, .answered), (.show, .answered): await voucher?.answered(isAccepted: true)
    case (.send, _), (.show, _): await voucher?.answered(isAccepted: false)
    default: break
    }
  }

  private func answer(to call: DeviceCall) async -> DeviceNews {
    do throws(DeviceFailure) { return .answered(try await exchange(call)) } catch {
      return .unanswered(error)
    }
  }

  private func signatures(
    of message: DeviceMessage, by signers: [Signer], _ context: MachineContext
  ) async throws(DeviceFailure) -> Signatures {
    var signatures = Signatures()
    for signer in signers {
      switch signer {
      case .device: signatures.device = try await sign(message, context.keys.device, .device, context.reason)
      case .approval:
        guard let name = context.keys.approval else { continue }
        signatures.approval = try await sign(message, name, .approval, context.reason)
      case .newDevice:
        guard let name = context.newKeys?.device else { continue }
        signatures.newDevice = try await sign(message, name, .device, context.reason)
      case .newApproval:
        guard let name = context.newKeys?.approval else { continue }
        signatures.newApproval = try await sign(message, name, .approval, context.reason)
      }
    }
    return signatures
  }

  // MARK: Keys

  func sign(
    _ message: DeviceMessage, _ name: KeyName, _ role: KeyRole, _ reason: String = ""
  ) async throws(DeviceFailure) -> [UInt8] {
    do { return try await keys.sign(message.bytes, by: name, reason: reason) } catch {
      let failure = DeviceFailure(ofKey: error, role: role)
      heed(failure)
      throw failure
    }
  }

  func makeKeys(withApproval: Bool) async throws(DeviceFailure) -> DeviceRecord.KeyNames {
    do {
      let device = try await keys.make(.device, challenge: nil)
      let approval = withApproval ? try await keys.make(.approval, challenge: nil) : nil
      return DeviceRecord.KeyNames(device: device, approval: approval)
    } catch {
      throw DeviceFailure(ofKey: error, role: .device)
    }
  }

  func points(of names: DeviceRecord.KeyNames) async throws(DeviceFailure) -> DevicePoints {
    let device: [UInt8]
    do { device = try await keys.point(names.device) } catch {
      throw DeviceFailure(ofKey: error, role: .device)
    }
    var approval: [UInt8]?
    if let name = names.approval {
      do { approval = try await keys.point(name) } catch {
        throw DeviceFailure(ofKey: error, role: .approval)
      }
    }
    guard let points = DevicePoints(device: device, approval: approval) else {
      throw DeviceFailure(.unusable, "a key is no point on P-256, or both are one")
    }
    return points
  }

  /// What was made for nothing. One that stays is of no use to anybody.
  func remove(_ names: DeviceRecord.KeyNames?) async {
    guard let names else { return }
    try? await keys.remove(names.device)
    if let approval = names.approval { try? await keys.remove(approval) }
  }
}
