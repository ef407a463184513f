/// The steps by which a signed message of a device is judged, in the order in which they are told, and the rule behind
/// each word (docs/devices-messages.md, "Messages").
package import DeviceWire

package enum MessageStep: String, CaseIterable, Error, Sendable {
  case fields
  case publicKey = "public_key"
  case sameKey = "same_key"
  case signals
  case commit
  case encoding
  case mac
  case signatureDER = "signature_der"
  case deviceSignature = "device_signature"
  case approvalSignature = "approval_signature"
  case newDeviceSignature = "new_device_signature"
  case newApprovalSignature = "new_approval_signature"
  case sas
  case digest
  case nonce
  case matchCode = "match_code"

  package var rule: String {
    switch self {
    case .fields: "the domain is known, and each field has its form"
    case .publicKey: "the keys that the domain names are there, and are points on P-256"
    case .sameKey: "device key and approval key differ"
    case .signals: "the signals are an object whose known members have their forms"
    case .commit: "the commitment is SHA-256 of r"
    case .encoding: "the message is the one that was expected"
    case .mac: "the message was authenticated under the pairing's secret"
    case .signatureDER: "each signature is strict DER of two positive integers"
    case .deviceSignature: "the device key signed the message"
    case .approvalSignature: "the approval key signed the message"
    case .newDeviceSignature: "the new device key signed the message"
    case .newApprovalSignature: "the new approval key signed the message"
    case .sas: "the six digits are those of both sides' random bytes"
    case .digest: "the digest is SHA-256 of the message"
    case .nonce: "the nonce is base64url of the message's SHA-256"
    case .matchCode: "the code is the one that was issued"
    }
  }
}

extension CanonicalJSONError {
  package var rule: String {
    switch self {
    case .size: "at most 8,192 bytes"
    case .utf8: "the text is UTF-8"
    case .syntax: "the text is JSON, and nothing else"
    case .depth: "at most eight objects and arrays are inside each other"
    case .number: "numbers are whole, and within 2^53 - 1 of zero"
    case .duplicate: "no name comes twice"
    case .type: "nothing is null, and arrays hold strings"
    case .surrogate: "escaped surrogates come in pairs"
    case .top: "the text is an object"
    case .character: "no text hides, breaks or turns what is shown"
    case .members: "the members are those of a summary"
    case .canonical: "the text is in its canonical form"
    }
  }
}
