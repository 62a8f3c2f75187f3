"""Addresses of stores of objects, where epochs and savepoints can be kept: what is written in a setting or on a command line."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from ouzel.errors import NotSupported

VARIABLES = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL", "AWS_REGION")
"""What the environment says of a store."""

_SETTING, _ENDPOINT = ("SET", "checkpoint.path"), ("SET", "checkpoint.endpoint")


@dataclass(frozen=True)
class StoreAddress:
    """A prefix of a bucket, which stands for a folder.

    Attributes:
        bucket: its name.
        prefix: of all names below it, without "/" at its ends; empty for the whole bucket.
        endpoint: the URL that answers for the store; if empty the environment says so (AWS_ENDPOINT_URL), or it is Amazon's own.
    """

    bucket: str
    prefix: str
    endpoint: str = ""

    def __str__(self) -> str:
        return f"s3://{self.bucket}/{self.prefix}".rstrip("/")


def is_store_address(text: str) -> bool:
    """Whether a text is an address, and not the path of a folder."""
    return "://" in text


def parse_address(text: str, endpoint: str = "") -> StoreAddress:
    """The store that an address says.

    Raises:
        NotSupported: its scheme is another than s3, or it holds more than a bucket and a prefix.
    """
    scheme, rest = text.split("://", 1)
    if scheme != "s3":
        told = f"'{scheme}://...': epochs and savepoints are kept in a folder of this machine, or in S3"
        raise NotSupported(told, instead="write the path of a folder, or s3://bucket/prefix", about=_SETTING)
    bucket, _, prefix = rest.partition("/")
    parts = prefix.strip("/").split("/") if prefix.strip("/") else []
    if not bucket or set("@:?#") & set(bucket) or set("?#") & set(prefix) or {"", ".", ".."} & set(parts):
        told = "an address of S3 holds a bucket and a prefix, and nothing else"
        advice = (
            "write s3://bucket/prefix; keys are taken from the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY)"
        )
        raise NotSupported(told, instead=advice, about=_SETTING)
    check_endpoint(endpoint)
    return StoreAddress(bucket, "/".join(parts), endpoint)


def check_endpoint(endpoint: str) -> None:
    """See that an endpoint is a URL without secrets, or empty.

    Raises:
        NotSupported: it is not.
    """
    url = urlsplit(endpoint)
    if endpoint and (url.scheme not in ("http", "https") or "@" in url.netloc or not url.netloc or url.query):
        told = "'checkpoint.endpoint' is to be the URL of a server, without a name or a key in it"
        raise NotSupported(told, instead="write https://host:port", about=_ENDPOINT)
