"""What a source URL means: a local folder, or another fsspec file system."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["is_local", "local_folder", "shown_url"]


def is_local(url: str) -> bool:
    """Whether the URL is a folder of this machine.

    >>> is_local("./docs"), is_local("file:///srv/docs"), is_local("s3://bucket/docs")
    (True, True, False)
    """
    return "::" not in url and ("://" not in url or url.startswith(("file://", "local://")))


def local_folder(url: str, base_folder: Path) -> Path:
    """Absolute path of a local source; relative ones count from ``base_folder``.

    >>> local_folder("docs", Path("/srv")).as_posix()
    '/srv/docs'
    """
    path = unquote(urlsplit(url).path) if "://" in url else url
    return Path(os.path.abspath(base_folder / Path(path).expanduser()))  # noqa: PTH100 - `..` away, links kept


def shown_url(url: str) -> str:
    """The URL without login, query and fragment, for messages.

    >>> shown_url("sftp://me:secret@host/docs?token=1")
    'sftp://host/docs'
    """
    return re.sub(r"://[^/@]*@", "://", re.sub(r"[?#].*$", "", url) if "://" in url else url)
