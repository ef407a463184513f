"""The certificates of the suite, new for each run: a server's, clients' good and bad, their authorities."""

import datetime
import ipaddress

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

DAY = datetime.timedelta(days=1)


def now():
    return datetime.datetime.utcnow().replace(microsecond=0)


def pem(item):
    """A certificate or private key as PEM."""
    if isinstance(item, x509.Certificate):
        return item.public_bytes(serialization.Encoding.PEM)
    return item.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def name(common_name):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def key_usage(**claims):
    every = dict.fromkeys(
        "digital_signature content_commitment key_encipherment data_encipherment key_agreement "
        "key_cert_sign crl_sign encipher_only decipher_only".split(),
        False,
    )
    return x509.KeyUsage(**{**every, **claims})


def build(subject, key, issuer, issuer_key, extensions, starts=None, ends=None, digest=None):
    """One certificate; `extensions` are pairs (extension, critical)."""
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(starts or now() - DAY)
        .not_valid_after(ends or now() + 30 * DAY)
    )
    for extension, critical in extensions:
        builder = builder.add_extension(extension, critical)
    return builder.sign(issuer_key, digest or hashes.SHA256())


class Authority:
    """A certificate authority with a key of its own."""

    def __init__(self, common_name):
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.subject = name(common_name)
        extensions = [
            (x509.BasicConstraints(ca=True, path_length=None), True),
            (key_usage(key_cert_sign=True, crl_sign=True), True),
            (x509.SubjectKeyIdentifier.from_public_key(self.key.public_key()), False),
        ]
        self.certificate = build(self.subject, self.key, self.subject, self.key, extensions)

    def issue(self, common_name, usage, names=(), starts=None, ends=None, key=None):
        """A leaf for `usage` (an extended key usage); its certificate and key, a new one unless it is a renewal."""
        key = key or ec.generate_private_key(ec.SECP256R1())
        extensions = [
            (x509.BasicConstraints(ca=False, path_length=None), True),
            (key_usage(digital_signature=True), True),
            (x509.ExtendedKeyUsage([usage]), False),
            (x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key()), False),
        ]
        if names:
            extensions.append((x509.SubjectAlternativeName(names), False))
        return build(name(common_name), key, self.subject, self.key, extensions, starts, ends), key


class PKI:
    """Everything on disk under `folder`; attributes are paths of PEM files."""

    def __init__(self, folder):
        self.folder = folder
        server_authority = Authority("Suite Server CA")
        self.client_authority = Authority("Suite Client CA")
        self.foreign_authority = foreign = Authority("Somebody Else's CA")
        self.server_ca = self.write("server-ca.pem", pem(server_authority.certificate))
        self.client_ca = self.write("client-ca.pem", pem(self.client_authority.certificate))
        self._server_authority = server_authority
        self.server_certificate, self.server_key = self.issue_server("server")

        client = self.client_purpose = ExtendedKeyUsageOID.CLIENT_AUTH
        self.good_client = self.pair("client-good", self.client_authority.issue("developer", client))
        self.foreign_client = self.pair("client-foreign", foreign.issue("developer", client))
        expired = self.client_authority.issue("developer", client, starts=now() - 9 * DAY, ends=now() - DAY)
        self.expired_client = self.pair("client-expired", expired)
        other_purpose = self.client_authority.issue("developer", ExtendedKeyUsageOID.SERVER_AUTH)
        self.server_purpose_client = self.pair("client-server-purpose", other_purpose)

    def issue_server(self, stem, **dates):
        """A fresh server certificate for localhost: paths of certificate and key; `dates` are when it `starts` and `ends`."""
        names = [
            x509.DNSName("localhost"),
            x509.IPAddress(ipaddress.ip_address("127.0.0.1")),
            x509.IPAddress(ipaddress.ip_address("::1")),
        ]
        issued = self._server_authority.issue("localhost", ExtendedKeyUsageOID.SERVER_AUTH, names, **dates)
        return self.pair(stem, issued)

    def pair(self, stem, issued):
        certificate, key = issued
        return self.write(f"{stem}.pem", pem(certificate)), self.write(f"{stem}.key", pem(key))

    def write(self, file_name, content):
        path = self.folder / file_name
        path.write_bytes(content)
        path.chmod(0o600)
        return path
