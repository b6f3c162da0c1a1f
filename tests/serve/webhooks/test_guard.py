"""The table of addresses: what the whole world can see may receive webhooks, nothing else."""

from __future__ import annotations

import pytest

from engine.errors import Code, InputError
from engine.settings import Webhooks
from serve.webhooks.guard import allowed, check_url, choose, parse_url

STRICT = Webhooks()  # pyright: ignore[reportCallIssue]
LAX = Webhooks(allow_private=True, allow_http=True)  # pyright: ignore[reportCallIssue]

PUBLIC = ["8.8.8.8", "93.184.215.14", "2606:4700:4700::1111", "2a00:1450:4001:81b::200e", "1.1.1.1"]
NEVER = [
    "169.254.169.254", "168.63.129.16", "100.100.100.200", "192.0.0.192", "fd00:ec2::254", "0.0.0.0", "::",
    "224.0.0.1", "239.255.255.250", "255.255.255.255", "ff02::1", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe",
    "2002:a9fe:a9fe::", "not an address", "::169.254.169.254", "::ffff:0:169.254.169.254", "2001:0:1:1:1:1:5601:5601",
]  # fmt: skip
PRIVATE = [
    "127.0.0.1", "127.8.8.8", "::1", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.1.1",
    "100.64.0.1", "100.127.255.254", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12:3456::1", "0.1.2.3", "192.0.0.8",
    "198.18.0.1", "198.19.255.255", "240.0.0.1", "203.0.113.7", "198.51.100.7", "192.0.2.7", "2001:db8::1",
    "192.88.99.1", "fec0::1", "100::1", "2001:2::1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::8.8.8.8",
    "64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::a00:1", "2002:7f00:1::", "2002:808:808::",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2", "::ffff:0:127.0.0.1", "5f00::1", "4000::1",
]  # fmt: skip


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_allowed(address: str) -> None:
    assert allowed(address, allow_private=False)


@pytest.mark.parametrize("address", PRIVATE)
def test_private_addresses_need_a_setting(address: str) -> None:
    assert not allowed(address, allow_private=False)
    assert allowed(address, allow_private=True)


@pytest.mark.parametrize("address", NEVER)
def test_some_addresses_are_never_allowed(address: str) -> None:
    assert not allowed(address, allow_private=False)
    assert not allowed(address, allow_private=True)


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/", "ftp://example.com/", "example.com", "https://", "https:///path", "//example.com/",
        "https://user@example.com/", "https://user:pw@example.com/", "https://:pw@example.com/", "https://@example.com/",
        "https://exa mple.com/", "https://example.com/\nx", "https://example.com\\@127.0.0.1/", "https://example.com:0/",
        "https://example.com:99999/", "https://" + "a" * 2000 + ".com/", "javascript:alert(1)", "https://[::1/", "",
    ],
)  # fmt: skip
def test_urls_of_another_form_are_refused(url: str) -> None:
    with pytest.raises(InputError) as refusal:
        parse_url(url, STRICT)
    assert refusal.value.code == Code.INVALID_REQUEST


@pytest.mark.parametrize(
    "url",
    [
        "https://localhost/", "https://127.0.0.1/", "https://[::1]:8016/x", "https://2130706433/", "https://0x7f000001/",
        "https://127.1/", "https://0177.0.0.1/", "https://[::ffff:127.0.0.1]/", "https://169.254.169.254/latest/",
        "https://10.0.0.7:8443/", "https://0/", "https://no-such-host.invalid/",
    ],
)  # fmt: skip
def test_hosts_inside_are_refused_however_they_are_written(url: str) -> None:
    with pytest.raises(InputError) as refusal:
        check_url(url, STRICT)
    assert refusal.value.code == Code.INVALID_REQUEST


def test_literal_public_addresses_pass_without_any_name() -> None:
    assert check_url("https://8.8.8.8:8443/hook?x=1", STRICT).addresses == ("8.8.8.8",)
    assert check_url("https://[2606:4700:4700::1111]/hook", STRICT).addresses == ("2606:4700:4700::1111",)


def test_http_and_private_addresses_pass_where_the_settings_say_so() -> None:
    assert "127.0.0.1" in check_url("http://localhost:9/hook", LAX).addresses
    with pytest.raises(InputError):
        check_url("http://169.254.169.254/latest/meta-data", LAX)


def test_one_private_address_among_public_ones_refuses_the_name() -> None:
    url = parse_url("https://example.com/", STRICT)
    assert choose(url, ["8.8.8.8", "1.1.1.1"], STRICT).addresses == ("8.8.8.8", "1.1.1.1")
    for addresses in (["8.8.8.8", "10.0.0.1"], ["::1", "8.8.8.8"], []):
        with pytest.raises(InputError):
            choose(url, addresses, STRICT)


def test_international_names_are_spoken_in_ascii() -> None:
    assert parse_url("https://bücher.example/haken", STRICT).raw_host == b"xn--bcher-kva.example"
