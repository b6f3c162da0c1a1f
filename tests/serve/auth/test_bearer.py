"""The form of our own tokens."""

from __future__ import annotations

import hashlib

from serve.auth import digest, new_token
from serve.auth.bearer import is_ours


def test_tokens_are_prefixed_random_and_recognised() -> None:
    tokens = {new_token() for _ in range(1000)}
    assert len(tokens) == 1000
    assert all(is_ours(token) and len(token) == 50 for token in tokens)  # 7 + 43: 32 bytes in base64url


def test_the_digest_is_sha256_in_hexadecimal() -> None:
    assert digest("abc") == hashlib.sha256(b"abc").hexdigest()
    assert digest("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
