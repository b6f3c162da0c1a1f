"""Objects in an S3 bucket, or in whatever speaks S3. Written in parts, so that memory does not depend on size;
an object appears when its last part is acknowledged."""

from __future__ import annotations

import io
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, BinaryIO, cast

from engine.errors import Code, ConfigError, SourceError, StorageError
from engine.objects import Stored, check_folder, check_key, valid_key
from engine.settings import Objects
from engine.sources.s3 import s3_client

PART = 8 << 20  # bytes; S3 wants at least 5 MiB and at most 10,000 parts: objects up to 78 GiB
_BATCH = 1000  # keys of one deletion, S3's own bound
_ABSENT = {"NoSuchKey", "404", "NotFound"}
_NO_BUCKET = {"NoSuchBucket"}
_REFUSED = {"403", "AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "AuthorizationHeaderMalformed"}


class S3Objects:
    """The object store of a cluster. With versioning on the bucket, deletions leave old versions to its lifecycle
    rules. Needs GetObject, PutObject, DeleteObject, ListBucket, AbortMultipartUpload, ListBucketMultipartUploads."""

    def __init__(self, objects: Objects) -> None:
        self._client = s3_client(objects)
        self._bucket = objects.bucket
        prefix = objects.prefix.lstrip("/")
        self._prefix = prefix if not prefix or prefix.endswith("/") else prefix + "/"
        self._encrypted = {"ServerSideEncryption": objects.encryption} if objects.encryption else {}

    def check(self) -> None:
        """Ask the server once. Raises ConfigError (no such bucket, wrong credentials), StorageError (unreachable)."""
        with _explained("list", f"s3://{self._bucket}/{self._prefix}"):
            self._client.list_objects_v2(Bucket=self._bucket, Prefix=self._prefix, MaxKeys=1)

    def writer(self, key: str) -> S3Writer:
        where = {"Bucket": self._bucket, "Key": self._prefix + check_key(key)}
        return S3Writer(self._client, where, self._encrypted)

    def put(self, key: str, data: bytes) -> None:
        with self.writer(key) as writer:
            writer.write(data)
            writer.commit()

    def open(self, key: str) -> BinaryIO:
        if not valid_key(key):
            raise _absent(key)
        with _explained("read", key):
            body = self._client.get_object(Bucket=self._bucket, Key=self._prefix + key)["Body"]
        return cast("BinaryIO", io.BufferedReader(_Body(body, key), 1 << 16))

    def read(self, key: str) -> bytes:
        with self.open(key) as stream:
            return stream.read()

    def exists(self, key: str) -> bool:
        if not valid_key(key):
            return False
        try:
            with _explained("look for", key):
                self._client.head_object(Bucket=self._bucket, Key=self._prefix + key)
        except SourceError:
            return False
        return True

    def list(self, prefix: str) -> Iterator[Stored]:
        pages = self._client.get_paginator("list_objects_v2")
        with _explained("list", prefix):
            for page in pages.paginate(Bucket=self._bucket, Prefix=self._prefix + prefix):
                for entry in page.get("Contents", ()):
                    key = str(entry["Key"]).removeprefix(self._prefix)
                    if valid_key(key):  # folder markers and strangers
                        yield Stored(key, int(entry["Size"]), entry["LastModified"].timestamp())

    def delete(self, key: str) -> None:
        if not valid_key(key):
            return
        with _explained("delete", key):
            try:
                self._client.delete_object(Bucket=self._bucket, Key=self._prefix + key)
            except self._client.exceptions.NoSuchKey:  # S3 itself never says so, others do
                return

    def delete_prefix(self, prefix: str) -> int:
        removed, batch = 0, list[str]()
        for stored in self.list(check_folder(prefix)):
            batch.append(stored.key)
            if len(batch) == _BATCH:
                removed += self._delete_all(batch)
                batch = []
        return removed + self._delete_all(batch)

    def _delete_all(self, keys: Sequence[str]) -> int:
        if keys:
            wanted = {"Objects": [{"Key": self._prefix + key} for key in keys], "Quiet": True}
            with _explained("delete", keys[0]):
                errors = self._client.delete_objects(Bucket=self._bucket, Delete=wanted).get("Errors", ())
            refused = [error for error in errors if error.get("Code") not in _ABSENT]
            if refused:
                code = str(refused[0].get("Code"))
                raise StorageError(f"the object store kept {len(refused)} objects: {code}", details={"s3_code": code})
        return len(keys)

    def sweep(self, older_than: float) -> int:
        limit, swept = datetime.now(UTC) - timedelta(seconds=older_than), 0
        pages = self._client.get_paginator("list_multipart_uploads")
        with _explained("sweep", self._prefix):
            for page in pages.paginate(Bucket=self._bucket, Prefix=self._prefix):
                for upload in page.get("Uploads", ()):
                    if upload["Initiated"] <= limit:
                        _abort(self._client, {"Bucket": self._bucket, "Key": upload["Key"]}, upload["UploadId"])
                        swept += 1
        return swept


class S3Writer:
    """An object on its way. A small one goes in one request at `commit`; `abort` after `commit` does nothing."""

    def __init__(self, client: Any, where: dict[str, str], encrypted: dict[str, str]) -> None:
        self._client, self._where, self._encrypted = client, where, encrypted
        self._buffer = bytearray()
        self._upload_id: str | None = None
        self._parts: list[dict[str, object]] = []
        self._ended = False

    def write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            taken = view[: PART - len(self._buffer)]
            self._buffer += taken
            view = view[len(taken) :]
            if len(self._buffer) == PART:
                self._send_part()

    def commit(self) -> None:
        if self._ended:
            raise StorageError(f"object {self._where['Key']} was ended already")
        if self._upload_id is None:
            with _explained("write", self._where["Key"]):
                self._client.put_object(**self._where, **self._encrypted, Body=self._buffer)
        else:
            if self._buffer:
                self._send_part()
            with _explained("write", self._where["Key"]):
                self._client.complete_multipart_upload(
                    **self._where, UploadId=self._upload_id, MultipartUpload={"Parts": self._parts}
                )
        self._ended, self._buffer = True, bytearray()

    def _send_part(self) -> None:
        number = len(self._parts) + 1
        with _explained("write", self._where["Key"]):
            if self._upload_id is None:
                self._upload_id = str(
                    self._client.create_multipart_upload(**self._where, **self._encrypted)["UploadId"]
                )
            sent = self._client.upload_part(
                **self._where, UploadId=self._upload_id, PartNumber=number, Body=self._buffer
            )
        checksums = {name: value for name, value in sent.items() if name.startswith("Checksum")}
        self._parts.append({"PartNumber": number, "ETag": sent["ETag"], **checksums})
        self._buffer = bytearray()

    def abort(self) -> None:
        if self._ended:
            return
        self._ended, self._buffer = True, bytearray()
        if self._upload_id is not None:
            with _explained("abort", self._where["Key"]):
                _abort(self._client, self._where, self._upload_id)

    def __enter__(self) -> S3Writer:
        return self

    def __exit__(self, *_: object) -> None:
        self.abort()


class _Body(io.RawIOBase):
    """botocore's answer body as a raw stream whose failures are ours."""

    def __init__(self, body: Any, key: str) -> None:
        self._body, self._key = body, key

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with _explained("read", self._key):
            return int(self._body.readinto(buffer))

    def close(self) -> None:
        if not self.closed:
            self._body.close()
        super().close()


def _abort(client: Any, where: dict[str, str], upload_id: str) -> None:
    try:
        client.abort_multipart_upload(**where, UploadId=upload_id)
    except client.exceptions.NoSuchUpload:  # ended by another
        return


def _absent(key: str) -> SourceError:
    return SourceError(f"object {key[:100]} is not there")


@contextmanager
def _explained(what: str, key: str) -> Generator[None]:
    """Turns botocore's errors into ours, with a sentence that says what to look at."""
    from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

    try:
        yield
    except ClientError as error:
        raise _refusal(str(error.response.get("Error", {}).get("Code", "")), what, key) from error
    except NoCredentialsError as error:
        raise ConfigError("no credentials for the object store (set S3_ACCESS_KEY and S3_SECRET_KEY)") from error
    except BotoCoreError as error:
        raise StorageError(f"cannot {what} {key}: the object store cannot be reached: {error}") from error


def _refusal(code: str, what: str, key: str) -> SourceError | ConfigError | StorageError:
    details = {"s3_code": code}
    if code in _ABSENT:
        return SourceError(f"object {key} is not there", details=details)
    if code in _NO_BUCKET:
        return ConfigError("there is no such bucket (setting objects.bucket, S3_BUCKET)", details=details)
    if code in _REFUSED:
        return ConfigError(
            f"the object store refused to {what} {key}: {code} (check S3_ACCESS_KEY and S3_SECRET_KEY and what they "
            "may do in the bucket)",
            Code.CONFIGURATION,
            details=details,
        )
    return StorageError(f"the object store refused to {what} {key}: {code}", details=details)
