/// From the login to the code and back: what is good once, for one login, for a short time.
import ApprovalPolicy
import Bytes
import DeviceWire
import JSON
import PortcullisProtocol
import System
import Testing

@testable import Registry

@Suite struct CodeTests {
  @Test func aCodeIsGoodOnce() throws {
    let room = try CodeRoom()
    let phone = try room.phone()
    let asked = try room.challenge()
    #expect(asked.integer("expires_at") == room.room.now.seconds + 300)
    #expect(room.room.effects.contains(.codeWanted(phone.id, attestedBy: nil)))
    #expect(room.room.effects.contains(.wake(.codes(of: phone.id))))
    let issued = try room.issue(phone, asked)
    #expect(issued.integer("expires_at") == room.room.now.seconds + 120)
    let code = try #require(issued["otp_code"])
    #expect(code.utf8.count == 6 && code.utf8.allSatisfy { (0x30...0x39).contains($0) })
    let passed = try room.verify(asked, code)
    #expect(passed["result"] == "pass" && passed["level"] == "app_attested")
    #expect(passed["device_id"] == phone.id.text)
    #expect(try room.verify(asked, code).code == .codeRejected)
    #expect(try room.issue(phone, asked, nonce: Bytes32()).code == .notPending)
    #expect(try room.list(phone).array("items").isEmpty && room.count() == 0)
  }

  @Test func whatAPhoneIsShown() throws {
    let room = try CodeRoom()
    let (phone, other) = (try room.phone(), try room.phone(of: "sam"))
    let first = try room.challenge(text: "Login from 192.0.2.7")
    let list = try room.list(phone)
    let item = try #require(list.array("items").first?.object)
    #expect(
      item.members.map(\.name).sorted() == ["challenge_id", "expires_at", "nonce", "service", "text"])
    #expect(item["service"]?.string == "web" && item["text"]?.string == "Login from 192.0.2.7")
    #expect(item["challenge_id"]?.string == first["challenge_id"])
    #expect(try room.list(other).array("items").isEmpty)
    // Behind the cursor there is nothing until there is more; an unknown one is as none.
    let cursor = try #require(list["cursor"])
    #expect(try room.list(phone, after: cursor).array("items").isEmpty)
    _ = try room.challenge(login: "login-2")
    #expect(try room.list(phone, after: cursor).array("items").count == 1)
    for unknown in ["", "x", "-1", "99999", "01"] {
      #expect(try room.list(phone, after: unknown).array("items").count == 2)
    }
    let poll = ListCodes(bearer: try room.room.token(other), after: nil)
    guard
      case .wait(.codes(of: other.id), by: .device(other.id), otherwise: _) = try room.room.run(
        poll, wait: .seconds(25))
    else {
      Issue.record("it waits")
      return
    }
  }

  @Test func aCodeIsOver() throws {
    let room = try CodeRoom()
    let phone = try room.phone()
    let asked = try room.challenge()
    let code = try room.code(phone, asked)
    room.room.pass(120)
    #expect(try room.verify(asked, code).code == .codeRejected)
    // The login goes on with another one, which is over with it.
    room.room.pass(179)
    #expect(try room.issue(phone, asked).integer("expires_at") == asked.integer("expires_at"))
    let last = try room.code(phone, asked)
    room.room.pass(1)
    #expect(try room.verify(asked, last).code == .codeRejected)
    #expect(try room.issue(phone, asked, nonce: Bytes32()).code == .notPending)
    #expect(try room.count() == 0)
  }

  @Test func aShorterLifeMayBeSet() throws {
    let room = try CodeRoom()
    let phone = try room.phone()
    room.room.settings.codeLife = .seconds(30)
    let asked = try room.challenge()
    let code = try room.code(phone, asked)
    room.room.pass(30)
    #expect(try room.verify(asked, code).code == .codeRejected)
    // And no longer one, whoever sets it.
    room.room.settings.codeLife = .seconds(3600)
    #expect(try room.issue(phone, asked).integer("expires_at") == room.room.now.seconds + 120)
  }

  @Test(arguments: [true, false]) func aNewerCodeEndsTheOlder(ofSamePhone: Bool) throws {
    let room = try CodeRoom()
    let phones = [try room.phone(), try room.phone()]
    let asked = try room.challenge()
    let older = try room.code(phones[0], asked)
    var newer = try room.code(phones[ofSamePhone ? 0 : 1], asked)
    // One in a million.
    if newer == older { newer = try room.code(phones[0], asked) }
    #expect(try room.verify(asked, older).code == .codeRejected)
    #expect(try room.verify(asked, newer)["device_id"] == phones[ofSamePhone ? 0 : 1].id.text)
  }

  @Test func aCodeOfAnotherLogin() throws {
    let room = try CodeRoom()
    let phone = try room.phone()
    let (one, two) = (try room.challenge(), try room.challenge(login: "login-2"))
    let code = try room.code(phone, one)
    // Where no code is good, nothing is counted.
    #expect(try room.verify(two, code, login: "login-2").code == .codeRejected && room.count() == 0)
    #expect(try room.verify(two, code, login: "login-1").code == .codeRejected && room.count() == 0)
    #expect(try room.verify(one, code, login: "login-2").code == .codeRejected && room.count() == 1)
    #expect(try room.verify(one, code)["result"] == "pass" && room.count() == 0)
  }

  @Test func itGoesToOnePhoneWhereOneIsNamed() throws {
    let room = try CodeRoom()
    let (phone, other) = (try room.phone(), try room.phone())
    let asked = try room.challenge(#""device_id":"\#(phone.id.text)""#)
    #expect(try room.list(other).array("items").isEmpty)
    #expect(try room.issue(other, asked, nonce: Bytes32()).code == .notFound)
    #expect(try room.verify(asked, room.code(phone, asked))["result"] == "pass")
    // One that belongs to nobody is counted by itself.
    let lone = try room.phone(of: nil)
    let itsOwn = try room.challenge(#""device_id":"\#(lone.id.text)""#)
    let code = try room.code(lone, itsOwn)
    #expect(try room.verify(itsOwn, another(than: code)).code == .codeRejected)
    #expect(try room.store.wrongCodes(of: .device(lone.id)).count == 1 && room.count() == 0)
    #expect(try room.verify(itsOwn, code)["result"] == "pass")
  }

  // MARK: Who may ask

  @Test func whoMayAsk() throws {
    let room = try CodeRoom()
    let phone = try room.phone()
    let approvals = try room.room.service("mud")
    let bounded = try room.room.service("bounded", subjects: "s*", scope: "codes")
    #expect(try room.challenge(service: approvals).code == .scopeMissing)
    #expect(try room.challenge(service: "nobody").code == .tokenRejected)
    #expect(try room.challenge(service: bounded).code == .scopeMissing)
    #expect(try room.challenge(#""device_id":"\#(phone.id.text)""#, service: bounded).code == .notFound)
    #expect(try room.challenge(#""subject":"nobody""#).code == .noDevice)
    #expect(try room.challenge(#""device_id":"\#(DeviceID.test(1).text)""#).code == .notFound)
    for whom in [#""subject":"frodo","device_id":"\#(phone.id.text)""#, #""x":1"#, #""subject":"""#] {
      #expect(try room.challenge(whom).code == .badRequest)
    }
    for text in ["", "\\u202e", String(repeating: "x", count: 1025)] {
      #expect(try room.challenge(text: text).code == .badRequest)
    }
    for login in ["", "\\u0000", String(repeating: "x", count: 129)] {
      #expect(try room.challenge(login: login).code == .badRequest)
    }
    let asked = try room.challenge()
    let code = try room.code(phone, asked)
    // Another service's is not there, and its tries are none.
    let other = try room.room.service("other", scope: "codes")
    #expect(try room.verify(asked, code, service: other).code == .notFound)
    #expect(try room.verify(asked, code, service: approvals).code == .scopeMissing)
    #expect(try room.count() == 0 && room.verify(asked, code)["result"] == "pass")
  }

  @Test func fiveAreOpenAtOnce() throws {
    let room = try CodeRoom()
    let phone = try room.phone()
    let asked = try (0..<5).map { try room.challenge(login: "login-\($0)") }
    #expect(try room.challenge(login: "login-5").code == .tooManyOpen)
    #expect(try room.challenge(#""device_id":"\#(phone.id.text)""#).code == .tooManyOpen)
    _ = try room.verify(asked[3], room.code(phone, asked[3]), login: "login-3")
    #expect(try room.challenge(login: "login-5").code == nil)
    room.room.pass(300)
    #expect(try room.challenge(login: "login-6").code == nil)
  }
}
