"""S3 and everything that speaks it, through boto3: endpoint, keys and region from the settings group
`objects`, or boto3's own chain (environment, profile, instance role) when no key is set there."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, BinaryIO, cast
from urllib.parse import quote, unquote, urlsplit

from engine.errors import SourceError, Stage
from engine.settings import Objects, Settings
from engine.sources import Listed


def split_uri(uri: str) -> tuple[str, str]:
    """(bucket, key) of an `s3://` URI; the key is percent-decoded."""
    parts = urlsplit(uri)
    return parts.netloc, unquote(uri.split("://", 1)[1].partition("/")[2])


def s3_uri(bucket: str, key: str) -> str:
    return f"s3://{bucket}/{quote(key)}"


def s3_client(objects: Objects) -> Any:
    """A boto3 client for the configured store; one per process and configuration."""
    return _client(
        objects.endpoint, objects.access_key.get_secret_value(), objects.secret_key.get_secret_value(), objects.region
    )


@lru_cache(maxsize=4)
def _client(endpoint: str, access_key: str, secret_key: str, region: str) -> Any:
    import boto3
    from botocore.config import Config

    return boto3.client(  # pyright: ignore[reportUnknownMemberType]
        "s3",
        endpoint_url=endpoint or None,
        aws_access_key_id=access_key or None,
        aws_secret_access_key=secret_key or None,
        region_name=region,
        config=Config(
            retries={"mode": "adaptive", "max_attempts": 8},
            connect_timeout=10,
            read_timeout=60,
            s3={"addressing_style": "path"} if endpoint else {},
            max_pool_connections=32,
        ),
    )


class S3Source:
    """Every object under a bucket and prefix. `s3://bucket/folder` takes `folder/…`, not `folder2`."""

    def __init__(self, uri: str, settings: Settings) -> None:
        self._bucket, prefix = split_uri(uri)
        self._prefix = prefix if not prefix or prefix.endswith("/") else prefix + "/"
        self._objects = settings.objects
        self.root = s3_uri(self._bucket, self._prefix)

    def list(self) -> Iterator[Listed]:
        pages = s3_client(self._objects).get_paginator("list_objects_v2")
        with _explained(self.root, Stage.LIST):
            for page in pages.paginate(Bucket=self._bucket, Prefix=self._prefix):
                for entry in page.get("Contents", ()):
                    if not entry["Key"].endswith("/"):  # folder markers
                        yield self._listed(entry)

    def _listed(self, entry: dict[str, Any]) -> Listed:
        key = str(entry["Key"])
        return Listed(
            key.removeprefix(self._prefix),
            s3_uri(self._bucket, key),
            int(entry["Size"]),
            etag=str(entry.get("ETag", "")).strip('"'),
            mtime=entry["LastModified"].timestamp(),
        )


def open_s3(uri: str, settings: Settings) -> BinaryIO:
    bucket, key = split_uri(uri)
    with _explained(uri, Stage.FETCH):
        return cast("BinaryIO", s3_client(settings.objects).get_object(Bucket=bucket, Key=key)["Body"])


class _explained:
    """Turns botocore's errors into SourceError with a sentence that says what to look at."""

    def __init__(self, uri: str, stage: Stage) -> None:
        self._uri, self._stage = uri, stage

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        from botocore.exceptions import BotoCoreError, ClientError

        if isinstance(error, ClientError):
            code = str(error.response.get("Error", {}).get("Code", ""))
            raise SourceError(
                f"the object store refused {self._uri}: {code} {_HINTS.get(code, '')}".strip(),
                stage=self._stage,
                details={"s3_code": code},
            ) from error
        if isinstance(error, BotoCoreError):
            raise SourceError(f"cannot reach the object store for {self._uri}: {error}", stage=self._stage) from error


_HINTS = {
    "NoSuchBucket": "(there is no such bucket)",
    "NoSuchKey": "(the object is gone)",
    "404": "(not there)",
    "403": "(check S3_ACCESS_KEY and S3_SECRET_KEY)",
    "AccessDenied": "(check S3_ACCESS_KEY and S3_SECRET_KEY)",
    "InvalidAccessKeyId": "(check S3_ACCESS_KEY)",
    "SignatureDoesNotMatch": "(check S3_SECRET_KEY)",
}
