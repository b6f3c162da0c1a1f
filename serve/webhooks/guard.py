"""Where a webhook may be delivered: only to addresses that the whole world can see.

The server resolves the name itself, checks every address it gets, and connects to exactly one of those it checked:
a name that answers with another address the second time (DNS rebinding) changes nothing. Checked when a webhook is
registered and again at each delivery.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass

import httpx

from engine.errors import Code, InputError
from engine.settings import Webhooks

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
MOST_CHARACTERS = 2000

# What cloud machines ask for their own credentials; nobody receives webhooks there. The first is AWS, GCP, Azure and
# others, then ECS tasks and EKS pods, Alibaba, Oracle, Azure's host agent (a public address), AWS over IPv6.
METADATA = frozenset(
    ipaddress.ip_address(text)
    for text in (
        "169.254.169.254", "169.254.170.2", "169.254.170.23", "100.100.100.200", "192.0.0.192", "168.63.129.16",
        "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254",
    )
)  # fmt: skip
# Not for the public whatever the standard library's own tables say: they differ between its patch releases.
_PRIVATE = tuple(
    ipaddress.ip_network(text)
    for text in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "::1/128", "100::/64", "2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10",
        "fec0::/10",
    )
)  # fmt: skip
# IPv6 addresses that stand for an IPv4 one, and where in the 128 bits it is (shift from the right): compatible and
# mapped (RFC 4291), SIIT (RFC 2765), NAT64 (RFC 6052, RFC 8215), 6to4 (RFC 3056), Teredo (RFC 4380, inverted).
_EMBEDDING = tuple(
    (ipaddress.ip_network(text), shift, inverted)
    for text, shift, inverted in (
        ("::/96", 0, False),
        ("::ffff:0:0/96", 0, False),
        ("::ffff:0:0:0/96", 0, False),
        ("64:ff9b::/96", 0, False),
        ("64:ff9b:1::/48", 0, False),
        ("2002::/16", 80, False),
        ("2001::/32", 0, True),
    )
)


@dataclass(frozen=True, slots=True)
class Target:
    """A URL whose host was resolved and checked: connect to one of `addresses`, speak as if to `url`."""

    url: httpx.URL
    addresses: tuple[str, ...]


def check_url(url: str, settings: Webhooks) -> Target:
    """Resolve and check a webhook's address; blocking. Raises InputError (INVALID_REQUEST)."""
    parsed = parse_url(url, settings)
    return choose(parsed, resolve(parsed), settings)


def parse_url(url: str, settings: Webhooks) -> httpx.URL:
    """The URL, when its form is one that may be delivered to. Raises InputError (INVALID_REQUEST)."""
    if len(url) > MOST_CHARACTERS or any(c.isspace() or ord(c) < 0x20 or c == "\\" for c in url):
        raise _refused(f"it must have at most {MOST_CHARACTERS} characters, none of them blank or a backslash")
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, ValueError) as error:
        raise _refused("it is not a URL") from error
    if parsed.scheme != "https" and not (parsed.scheme == "http" and settings.allow_http):
        raise _refused("it must begin with https://")
    if "@" in re.split(r"[/?#]", url.partition("://")[2], maxsplit=1)[0]:
        raise _refused("it must not hold a user or password")
    if not parsed.host or not 0 < port_of(parsed) < 65536:
        raise _refused("it names no host, or no port that there is")
    return parsed


def resolve(url: httpx.URL) -> list[str]:
    """Every address of the URL's host. Raises InputError (INVALID_REQUEST) when it has none."""
    try:
        # the ASCII form, as it will be spoken; the resolver also reads forms such as 0x7f.1, which then are addresses
        found = socket.getaddrinfo(url.raw_host.decode("ascii"), port_of(url), type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise _refused("its host cannot be resolved") from error
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def port_of(url: httpx.URL) -> int:
    if url.port is not None:
        return url.port
    return 443 if url.scheme == "https" else 80


def choose(url: httpx.URL, addresses: Iterable[str], settings: Webhooks) -> Target:
    """The target, if every one of the addresses may be connected to: a name with one foot inside is refused.
    Raises InputError (INVALID_REQUEST)."""
    addresses = tuple(addresses)
    if not addresses:
        raise _refused("its host cannot be resolved")
    if not all(allowed(text, settings.allow_private) for text in addresses):
        raise _refused("its host has an address that is not public")
    return Target(url, addresses)


def allowed(text: str, allow_private: bool) -> bool:
    """Whether a webhook may be delivered to this address. `allow_private`: loopback, private, link-local and embedded
    ones too, but never metadata services, multicast, unspecified or broadcast ones."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    inner = [address, *_embedded(address)]
    if any(a in METADATA or _nobody(a) for a in inner):
        return False
    return allow_private or (len(inner) == 1 and _public(address))


def _nobody(address: Address) -> bool:
    """No single machine answers there."""
    broadcast = address.version == 4 and int(address) == 0xFFFFFFFF
    return address.is_multicast or address.is_unspecified or broadcast


def _public(address: Address) -> bool:
    known = any(address.version == network.version and address in network for network in _PRIVATE)
    return address.is_global and not address.is_reserved and not known


def _embedded(address: Address) -> list[Address]:
    """The IPv4 address inside an IPv6 one, which a router or the kernel may unpack."""
    if address.version == 4 or int(address) <= 1:  # :: and ::1 are themselves
        return []
    found: list[Address] = []
    for network, shift, inverted in _EMBEDDING:
        if address in network:
            bits = (int(address) >> shift) & 0xFFFFFFFF
            found.append(ipaddress.IPv4Address(bits ^ 0xFFFFFFFF if inverted else bits))
    return found


def _refused(reason: str) -> InputError:
    return InputError(f"this address cannot receive webhooks: {reason}", Code.INVALID_REQUEST)
