"""The fakes of Apple's frameworks have Apple's names and values: those that PyObjC's metadata lists, which is made from Apple's
headers. `make pyobjc` fetches it; it is read, never run.

Whatever the fakes declare is compared, or has a reason here why not.
"""

import re

import pytest

from documents import ROOT

FAKES = ROOT / "Tests" / "Kit" / "AppleFakes"
SYMBOLS = ROOT / "Tests" / "Kit" / "AppleStubs" / "symbols.txt"
METADATA = ROOT / ".build-conformance" / "pyobjc"

pytestmark = pytest.mark.skipif(not METADATA.exists(), reason="no metadata of pyobjc: make pyobjc")

FRAMEWORKS = ["DeviceCheck", "Foundation", "LocalAuthentication", "Network", "Security"]

# Of the rows of other modules: why there is nothing to compare with.
OTHERS = {
    "CryptoKit": "Swift alone", "Darwin": "C's library", "Dispatch": "one property, the main queue", "Swift": "no framework",
}

# An enumeration with values, one that may have others as well, and a type with numbers.
RAW = r"case (?P<name>\w+) = (?P<value>-?\d+)"
OPEN = r"case \.(?P<name>\w+): (?P<value>-?\d+)"
STATIC = r"static var (?P<name>\w+): [\w.]+ \{ Self\(rawValue: (?P<value>-?[\d_]+)\)"

# Where an enumeration's values are written, and how its cases are called in Objective-C.
VALUES = {
    "DCError.Code": ("AppleDeviceCheck/DCAppAttestService.swift", OPEN, "DCError"),
    "LABiometryType": ("AppleLocalAuthentication/LAContext.swift", RAW, "LABiometryType"),
    "LAError.Code": ("AppleLocalAuthentication/LAError.swift", OPEN, "LAError"),
    "LAPolicy": ("AppleLocalAuthentication/LAContext.swift", RAW, "LAPolicy"),
    "SecAccessControlCreateFlags": ("AppleSecurity/SecKey.swift", STATIC, "kSecAccessControl"),
    "URLCredential.Persistence": ("AppleFoundation/URLAuthentication.swift", RAW, "NSURLCredentialPersistence"),
    "URLError.Code": ("AppleFoundation/URLError.swift", STATIC, "NSURLError"),
    "URLSession.AuthChallengeDisposition": ("AppleFoundation/URLSession.swift", RAW, "NSURLSessionAuthChallenge"),
    "URLSessionWebSocketTask.CloseCode": (
        "AppleFoundation/URLSessionWebSocketTask.swift", OPEN, "NSURLSessionWebSocketCloseCode"),
}
# Swift's names that are not Objective-C's after the same rule.
RENAMED = {
    "URLError.Code.dnsLookupFailed": "NSURLErrorDNSLookupFailed",
    "URLError.Code.httpTooManyRedirects": "NSURLErrorHTTPTooManyRedirects",
    "URLSessionWebSocketTask.CloseCode.tlsHandshakeFailure": "NSURLSessionWebSocketCloseCodeTLSHandshakeFailure",
}

# Selectors that the metadata has, which are those with blocks, booleans and pointers.
SELECTORS = {
    "DCAppAttestService.attestKey(_:clientDataHash:)": "DCAppAttestService attestKey:clientDataHash:completionHandler:",
    "DCAppAttestService.generateAssertion(_:clientDataHash:)":
        "DCAppAttestService generateAssertion:clientDataHash:completionHandler:",
    "DCAppAttestService.generateKey()": "DCAppAttestService generateKeyWithCompletionHandler:",
    "DCAppAttestService.isSupported": "DCAppAttestService isSupported",
    "LAContext.canEvaluatePolicy(_:error:)": "LAContext canEvaluatePolicy:error:",
    "LAContext.evaluatePolicy(_:localizedReason:)": "LAContext evaluatePolicy:localizedReason:reply:",
    "URLSessionTaskDelegate.urlSession(_:task:didCompleteWithError:)": "NSObject URLSession:task:didCompleteWithError:",
    "URLSessionTaskDelegate.urlSession(_:task:didReceive:completionHandler:)":
        "NSObject URLSession:task:didReceiveChallenge:completionHandler:",
    "URLSessionTaskDelegate.urlSession(_:task:willPerformHTTPRedirection:newRequest:completionHandler:)":
        "NSObject URLSession:task:willPerformHTTPRedirection:newRequest:completionHandler:",
    "URLSessionWebSocketDelegate.urlSession(_:webSocketTask:didOpenWithProtocol:)":
        "NSObject URLSession:webSocketTask:didOpenWithProtocol:",
    "URLSessionWebSocketTask.receive()": "NSURLSessionWebSocketTask receiveMessageWithCompletionHandler:",
    "URLSessionWebSocketTask.send(_:)": "NSURLSessionWebSocketTask sendMessage:completionHandler:",
    "URLSessionWebSocketTask.sendPing(pongReceiveHandler:)": "NSURLSessionWebSocketTask sendPingWithPongReceiveHandler:",
}

# What the metadata does not have, by a pattern of the row's name.
REASONS = {
    r"(?:.*\.)?(?:RawValue|rawValue|init\(rawValue:\)|hash\(into:\)|hashValue|==\(_:_:\))": "made by Swift",
    r"\w+(?:\.(?:Code|Status|Persistence|AuthChallengeDisposition|CloseCode))?": "a type",
    r"k?CF\w+(?:\(_:\))?|OSStatus": "Core Foundation's, which Swift bridges",
    r"SecAccessControlCreateFlags\..*|SecKeyAlgorithm\.(?:init.*|rawValue)": "made by Swift",
    r"(?:AttributedString|Data|InlinePresentationIntent|JSON\w+|URL|URLComponents|URLRequest|URLError)\b.*": "Swift's own type",
    r"URLSession\.(?:AsyncBytes|bytes).*|URLSessionWebSocketTask\.Message.*": "Swift's own, around Objective-C's",
    r"NWPath.*": "Swift's own, around C's nw_path",
    r"(?:DC|LA)Error\.code|NS\w+": "Swift's own view of an NSError",
    r"\w+\.init\(\)": "Objective-C's init",
    r"(?:\w+)\.\w+|\w+\.\w+\(.*\)":
        "a property or a method of objects and numbers alone: PyObjC asks the running system for it",
}


class Framework:
    """What PyObjC has of one."""

    def __init__(self, name):
        text = (METADATA / name / "_metadata.py").read_text()
        self.enums, self.constants = {}, set()
        for kind, body in re.findall(r'(?m)^(enums|constants) = """(.*)"""', text):
            for word in body.strip("$").split("$"):
                name, _, value = word.partition("@")
                if kind == "constants":
                    self.constants.add(name)
                elif re.fullmatch(r"-?\d+", value):
                    self.enums[name] = int(value)
        self.functions = dict(re.findall(r'(?s)    "(\w+)": \(\s*b"([^"]*)"', text))
        self.selectors = {f"{owner} {name}" for owner, name in re.findall(r'\(\s*b"(\w+)",\s*b"([\w:]+)"', text)}


def parameters(encoding):
    """How many a C function has, by its types' encoding, the result's first."""
    return len(re.findall(r"[rnNoORV]*\^*[rnNoORV]*(?:@\?|\{[^}]*\}|\w|[@#:*?])", encoding)) - 1


@pytest.fixture(scope="module")
def frameworks():
    return {name: Framework(name) for name in FRAMEWORKS if (METADATA / name).exists()}


def rows():
    return [re.fullmatch(r"\S+ +(\w+) +(\S.*)", line).groups() for line in SYMBOLS.read_text().splitlines()]


def values(enumeration):
    """By the cases' names in Swift."""
    file, pattern, _ = VALUES[enumeration]
    kind = enumeration.rpartition(".")[2]
    # From its first line to the brace below it.
    body = re.search(rf"(?ms)^( *)public (?:enum|struct) {kind}\b.*?^\1\}}", (FAKES / file).read_text())[0]
    found = re.finditer(pattern, body)
    return {match["name"]: int(match["value"]) for match in found}


def objective_c(enumeration, case):
    return RENAMED.get(f"{enumeration}.{case}") or VALUES[enumeration][2] + case[0].upper() + case[1:]


@pytest.mark.parametrize("enumeration", VALUES)
def test_every_case_of_an_enumeration_has_apples_value(frameworks, enumeration):
    apple = {name: value for framework in frameworks.values() for name, value in framework.enums.items()}
    cases = {path[len(enumeration) + 1:] for _, path in rows() if path.startswith(f"{enumeration}.")}
    cases = {case for case in cases if re.fullmatch(r"[a-z]\w*", case) and case not in ("rawValue", "hashValue")}
    ours = values(enumeration)
    assert cases and set(ours) == cases, "a case whose value is not found where VALUES says"
    assert {case: (objective_c(enumeration, case), apple.get(objective_c(enumeration, case))) for case in cases} == \
        {case: (objective_c(enumeration, case), value) for case, value in ours.items()}


def test_every_code_of_security_has_apples_value(frameworks):
    ours = re.findall(r"var (errSec\w+): OSStatus \{ (-?\d+) \}", (FAKES / "AppleSecurity" / "SecBase.swift").read_text())
    assert {name for name, _ in ours} == {path for _, path in rows() if path.startswith("errSec")}
    assert [(name, frameworks["Security"].enums.get(name)) for name, _ in ours] == [(name, int(value)) for name, value in ours]


def constants():
    return [row for row in rows() if re.fullmatch(r"kSec\w+|NS[A-Z]\w+Method\w+|LA\w+Domain", row[1])]


def test_every_constant_is_apples(frameworks):
    assert len(constants()) > 10
    assert [path for module, path in constants() if path not in frameworks[module].constants] == []


def test_the_algorithm_is_apples(frameworks):
    names = [path.rpartition(".")[2] for _, path in rows() if re.fullmatch(r"SecKeyAlgorithm\.ecdsa\w+", path)]
    assert names == ["ecdsaSignatureMessageX962SHA256"]
    assert "kSecKeyAlgorithmECDSASignatureMessageX962SHA256" in frameworks["Security"].constants


def functions():
    return [(module, path) for module, path in rows() if module == "Security" and re.fullmatch(r"Sec\w+\([_:]*\)", path)]


def test_every_function_is_apples_and_has_as_many_parameters(frameworks):
    apple = frameworks["Security"].functions
    ours = {path.partition("(")[0]: path.count(":") for _, path in functions()}
    assert len(ours) > 5
    assert {name: parameters(apple[name]) if name in apple else None for name in ours} == ours


@pytest.mark.parametrize("path", SELECTORS)
def test_every_selector_is_apples(frameworks, path):
    assert path in {name for _, name in rows()}, "nobody declares it any more"
    assert any(SELECTORS[path] in framework.selectors for framework in frameworks.values())


def test_what_is_compared_with_nothing_has_a_reason(frameworks):
    compared = {path for _, path in constants() + functions()} | set(SELECTORS)
    compared |= {path for _, path in rows() if path.startswith(("errSec", "SecKeyAlgorithm.ecdsa"))}
    compared |= {f"{enumeration}.{case}" for enumeration in VALUES for case in values(enumeration)}
    left = [
        (module, path) for module, path in rows()
        if module not in OTHERS and path not in compared and not any(re.fullmatch(pattern, path) for pattern in REASONS)]
    assert left == []


def test_a_wrong_value_would_be_found(frameworks):
    """DCError's values as they would be, were its cases counted from 0."""
    apple = frameworks["DeviceCheck"].enums
    assert [apple[f"DCError{name}"] for name in ("FeatureUnsupported", "InvalidKey", "ServerUnavailable")] == [1, 3, 4]
    counted = {"featureUnsupported": 0, "invalidKey": 1, "serverUnavailable": 2}
    assert [apple[objective_c("DCError.Code", case)] == value for case, value in counted.items()] == [False] * 3


def test_the_reader_of_encodings():
    assert [parameters(text) for text in ("i@^@", "@@", "i@@o^@", "Z@o^@", "v", "@@n^{Some=ii}i")] == [2, 1, 3, 2, 0, 3]
