/// The rule behind each step's word, for people (docs/app-attest.md).
package import AppAttest

extension AttestationStep {
  package var rule: String {
    switch self {
    case .keyIdentifierInput: "the key id is base64 of 32 bytes"
    case .size: "the object has at most 16,384 bytes, each certificate at most 4,096"
    case .cbor: "one CBOR item, strictly encoded"
    case .format: "a map of fmt, attStmt with x5c and receipt, and authData"
    case .formatName: "fmt is apple-appattest"
    case .certificateCount: "x5c holds exactly two certificates"
    case .certificate: "both certificates are strict DER of version 3"
    case .duplicateExtension: "no extension comes twice"
    case .issuerName: "leaf, intermediate and root follow each other by name"
    case .validity: "both certificates hold at this time"
    case .authority: "the intermediate is an authority of path length 0 on P-384, the leaf is none"
    case .keyUsage: "the intermediate may sign certificates, the leaf signs data"
    case .criticalExtension: "no critical extension is unknown"
    case .signatureAlgorithm: "both are signed with ECDSA as Apple does it"
    case .leafKey: "the leaf's key is an uncompressed point on P-256"
    case .signature: "the signatures lead to the pinned root"
    case .nonceExtension: "the leaf has Apple's nonce extension, once and in its one form"
    case .nonce: "the leaf's nonce is SHA-256 of authData and clientDataHash"
    case .keyIdentifier: "the key id is SHA-256 of the leaf's key"
    case .authenticatorData: "the authenticator data has all its parts"
    case .relyingParty: "rpIdHash is of the configured app"
    case .leafAppID: "the leaf names the same app"
    case .signCount: "the counter is 0"
    case .aaguid: "the aaguid is of an allowed environment"
    case .credentialID: "the credential id is the key id"
    case .coseKey: "the COSE key is the leaf's key"
    case .extensions: "the authenticator data's extensions are well formed, and nothing is left over"
    case .launchPolicy: "category and bundle version are allowed"
    }
  }
}

extension AssertionStep {
  package var rule: String {
    switch self {
    case .size: "the object has at most 2,048 bytes"
    case .cbor: "one CBOR item, strictly encoded"
    case .format: "a map of signature and authenticatorData"
    case .signatureEncoding: "the signature is strict DER of 8 to 72 bytes"
    case .signature: "the registered key signed authenticatorData and clientDataHash"
    case .authenticatorData: "the authenticator data has all its parts"
    case .relyingParty: "rpIdHash is of the app that the key was registered for"
    case .appNotConfigured: "that app is configured"
    case .environmentNotAllowed: "the key's environment is allowed"
    case .signCount: "the counter is greater than the stored one"
    case .extensions: "the authenticator data's extensions are well formed, and nothing is left over"
    case .launchPolicy: "category and bundle version are allowed"
    }
  }
}
