"""What the tests of proxies share: addresses, PROXY headers, X-Forwarded-For, and requests."""

import ipaddress

from clients import UPGRADE, head

STRANGER, OTHER = "203.0.113.9", "203.0.113.10"
# The first two share a /64, as one subscriber's addresses do.
HOME, SAME_HOME, NEIGHBOUR = "2001:db8:1:2::7", "2001:db8:1:2:aaaa::8", "2001:db8:1:3::7"


def line(source, port=1234):
    family, here = ("TCP6", "::1") if ":" in source else ("TCP4", "127.0.0.1")
    return f"PROXY {family} {source} {here} {port} 8443\r\n".encode()


def ipv6(source, destination, source_port, destination_port):
    packed = ipaddress.ip_address(source).packed + ipaddress.ip_address(destination).packed
    return packed + source_port.to_bytes(2, "big") + destination_port.to_bytes(2, "big")


def forwarded(source):
    return f"X-Forwarded-For: {source}"


def get(client, target, *fields):
    return client.send(head("GET", target, *fields)).reply()


def upgrade(client, *fields):
    return client.send(head("GET", "/", *UPGRADE, *fields)).reply(head_only=True)
