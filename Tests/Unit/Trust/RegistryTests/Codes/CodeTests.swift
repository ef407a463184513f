/// From the login to the code and back: what is good once, for one login, for a short time.
import ApprovalPolicy
import Bytes
import DeviceWire
import JSON
import PortcullisProtocol
import System
import Testing
import Time

@testable import Registry

@Suite struct CodeTests {
  @Test func aCodeIsGoodOnce() throws {
    let part = try CodePart()
    let phone = try part.phone()
    let asked = try part.challenge()
    #expect(asked.integer("expires_at") == part.part.now.seconds + 300)
    #expect(part.part.effects.contains(.codeWanted(phone.id, attestedBy: nil)))
    #expect(part.part.effects.contains(.wake(.codes(of: phone.id))))
    let issued = try part.issue(phone, asked)
    #expect(issued.integer("expires_at") == part.part.now.seconds + 120)
    let code = try #require(issued["otp_code"])
    #expect(code.utf8.count == 6 && code.utf8.allSatisfy { (0x30...0x39).contains($0) })
    let passed = try part.verify(asked, code)
    #expect(passed["result"] == "pass" && passed["level"] == "app_attested")
    #expect(passed["device_id"] == phone.id.text)
    #expect(try part.verify(asked, code).code == .codeRejected)
    #expect(try part.issue(phone, asked, nonce: Bytes32()).code == .notPending)
    #expect(try part.list(phone).array("items").isEmpty && part.count() == 0)
  }

  @Test func whatAPhoneIsShown() throws {
    let part = try CodePart()
    let (phone, other) = (try part.phone(), try part.phone(of: "sam"))
    let first = try part.challenge(text: "Login from 192.0.2.7")
    let list = try part.list(phone)
    let item = try #require(list.array("items").first?.object)
    #expect(
      item.members.map(\.name).sorted() == ["challenge_id", "expires_at", "nonce", "service", "text"])
    #expect(item["service"]?.string == "web" && item["text"]?.string == "Login from 192.0.2.7")
    #expect(item["challenge_id"]?.string == first["challenge_id"])
    #expect(try part.list(other).array("items").isEmpty)
    // Behind the cursor there is nothing until there is more; an unknown one is as none.
    let cursor = try #require(list["cursor"])
    #expect(try part.list(phone, after: cursor).array("items").isEmpty)
    _ = try part.challenge(login: "login-2")
    #expect(try part.list(phone, after: cursor).array("items").count == 1)
    for unknown in ["", "x", "-1", "99999", "01"] {
      #expect(try part.list(phone, after: unknown).array("items").count == 2)
    }
    let poll = ListCodes(bearer: try part.part.token(other), after: nil)
    guard
      case .wait(.codes(of: other.id), by: .device(other.id), otherwise: _) = try part.part.run(
        poll, wait: .seconds(25))
    else {
      Issue.record("it waits")
      return
    }
  }

  @Test func aCodeIsOver() throws {
    let part = try CodePart()
    let phone = try part.phone()
    let asked = try part.challenge()
    let code = try part.code(phone, asked)
    part.part.pass(120)
    #expect(try part.verify(asked, code).code == .codeRejected)
    // The login goes on with another one, which is over with it.
    part.part.pass(179)
    #expect(try part.issue(phone, asked).integer("expires_at") == asked.integer("expires_at"))
    let last = try part.code(phone, asked)
    part.part.pass(1)
    #expect(try part.verify(asked, last).code == .codeRejected)
    #expect(try part.issue(phone, asked, nonce: Bytes32()).code == .notPending)
    #expect(try part.count() == 0)
  }

  @Test func aShorterLifeMayBeSet() throws {
    let part = try CodePart()
    let phone = try part.phone()
    part.part.settings.codeLife = .seconds(30)
    let asked = try part.challenge()
    let code = try part.code(phone, asked)
    part.part.pass(30)
    #expect(try part.verify(asked, code).code == .codeRejected)
    // And no longer one, whoever sets it.
    part.part.settings.codeLife = .seconds(3600)
    #expect(try part.issue(phone, asked).integer("expires_at") == part.part.now.seconds + 120)
  }

  @Test(arguments: [true, false]) func aNewerCodeEndsTheOlder(ofSamePhone: Bool) throws {
    let part = try CodePart()
    let phones = [try part.phone(), try part.phone()]
    let asked = try part.challenge()
    let older = try part.code(phones[0], asked)
    var newer = try part.code(phones[ofSamePhone ? 0 : 1], asked)
    // One in a million.
    if newer == older { newer = try part.code(phones[0], asked) }
    #expect(try part.verify(asked, older).code == .codeRejected)
    #expect(try part.verify(asked, newer)["device_id"] == phones[ofSamePhone ? 0 : 1].id.text)
  }

  @Test func aCodeOfAnotherLogin() throws {
    let part = try CodePart()
    let phone = try part.phone()
    let (one, two) = (try part.challenge(), try part.challenge(login: "login-2"))
    let code = try part.code(phone, one)
    // Where no code is good, nothing is counted.
    #expect(try part.verify(two, code, login: "login-2").code == .codeRejected && part.count() == 0)
    #expect(try part.verify(two, code, login: "login-1").code == .codeRejected && part.count() == 0)
    #expect(try part.verify(one, code, login: "login-2").code == .codeRejected && part.count() == 1)
    #expect(try part.verify(one, code)["result"] == "pass" && part.count() == 0)
  }

  @Test func itGoesToOnePhoneWhereOneIsNamed() throws {
    let part = try CodePart()
    let (phone, other) = (try part.phone(), try part.phone())
    let asked = try part.challenge(#""device_id":"\#(phone.id.text)""#)
    #expect(try part.list(other).array("items").isEmpty)
    #expect(try part.issue(other, asked, nonce: Bytes32()).code == .notFound)
    #expect(try part.verify(asked, part.code(phone, asked))["result"] == "pass")
    // One that belongs to nobody is counted by itself.
    let lone = try part.phone(of: nil)
    let itsOwn = try part.challenge(#""device_id":"\#(lone.id.text)""#)
    let code = try part.code(lone, itsOwn)
    #expect(try part.verify(itsOwn, another(than: code)).code == .codeRejected)
    #expect(try part.store.wrongCodes(of: .device(lone.id)).count == 1 && part.count() == 0)
    #expect(try part.verify(itsOwn, code)["result"] == "pass")
  }

  // MARK: Who may ask

  @Test func whoMayAsk() throws {
    let part = try CodePart()
    let phone = try part.phone()
    let approvals = try part.part.service("mud")
    let bounded = try part.part.service("bounded", subjects: "s*", scope: "codes")
    #expect(try part.challenge(service: approvals).code == .scopeMissing)
    #expect(try part.challenge(service: "nobody").code == .tokenRejected)
    #expect(try part.challenge(service: bounded).code == .scopeMissing)
    #expect(try part.challenge(#""device_id":"\#(phone.id.text)""#, service: bounded).code == .notFound)
    #expect(try part.challenge(#""subject":"nobody""#).code == .noDevice)
    #expect(try part.challenge(#""device_id":"\#(DeviceID.test(1).text)""#).code == .notFound)
    for whom in [#""subject":"frodo","device_id":"\#(phone.id.text)""#, #""x":1"#, #""subject":"""#] {
      #expect(try part.challenge(whom).code == .badRequest)
    }
    for text in ["", "\\u202e", String(repeating: "x", count: 1025)] {
      #expect(try part.challenge(text: text).code == .badRequest)
    }
    for login in ["", "\\u0000", String(repeating: "x", count: 129)] {
      #expect(try part.challenge(login: login).code == .badRequest)
    }
    let asked = try part.challenge()
    let code = try part.code(phone, asked)
    // Another service's is not there, and its tries are none.
    let other = try part.part.service("other", scope: "codes")
    #expect(try part.verify(asked, code, service: other).code == .notFound)
    #expect(try part.verify(asked, code, service: approvals).code == .scopeMissing)
    #expect(try part.count() == 0 && part.verify(asked, code)["result"] == "pass")
  }

  @Test func fiveAreOpenAtOnce() throws {
    let part = try CodePart()
    let phone = try part.phone()
    let asked = try (0..<5).map { try part.challenge(login: "login-\($0)") }
    #expect(try part.challenge(login: "login-5").code == .tooManyOpen)
    #expect(try part.challenge(#""device_id":"\#(phone.id.text)""#).code == .tooManyOpen)
    _ = try part.verify(asked[3], part.code(phone, asked[3]), login: "login-3")
    #expect(try part.challenge(login: "login-5").code == nil)
    part.part.pass(300)
    #expect(try part.challenge(login: "login-6").code == nil)
  }
}
