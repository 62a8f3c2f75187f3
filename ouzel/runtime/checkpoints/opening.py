"""Which store is behind a place."""

from __future__ import annotations

from ouzel.planner.store_address import StoreAddress
from ouzel.runtime.checkpoints.folder_store import FolderObjects
from ouzel.runtime.checkpoints.objects import ObjectStore, StoreLocation


def open_store(place: StoreLocation) -> ObjectStore:
    """What is at a place; nothing is asked of it.

    Raises:
        OuzelError: a package is missing, or the environment says what is not supported.
    """
    if isinstance(place, StoreAddress):
        from ouzel.runtime.checkpoints.s3_store import S3Store

        return S3Store(place)
    return FolderObjects(place)
