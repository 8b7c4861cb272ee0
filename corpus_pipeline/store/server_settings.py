"""Settings of the embedded PostgreSQL, whose own are for a machine of 2005; servers of others keep theirs."""

from __future__ import annotations

from pathlib import Path

import psutil

__all__ = ["server_settings", "write_server_settings"]

SETTINGS_FILE = "corpus_pipeline.conf"
_INCLUDE = f"include_if_exists '{SETTINGS_FILE}'"
_SHARED_BUFFERS_MB = (128, 1024)


def server_settings(memory_bytes: int) -> dict[str, str]:
    """The settings by name, for a machine with that much memory.

    >>> server_settings(24 << 30)["shared_buffers"], server_settings(1 << 30)["shared_buffers"]
    ('1024MB', '128MB')
    """
    smallest, largest = _SHARED_BUFFERS_MB
    return {
        # Pages are taken only when used; exact search under a filter reads some thousand of them a query.
        "shared_buffers": f"{min(max(memory_bytes // 16 >> 20, smallest), largest)}MB",
        "effective_cache_size": f"{memory_bytes // 2 >> 20}MB",
        # Nobody replicates an embedded server, so that an index is written once, not to the log as well.
        "wal_level": "minimal",
        "max_wal_senders": "0",
        "max_wal_size": "4GB",
        "checkpoint_timeout": "15min",
        # No query here is long enough to be worth compiling.
        "jit": "off",
    }


def write_server_settings(data_folder: Path) -> None:
    """Puts the settings into a data folder, for the next start; what an operator set with ALTER SYSTEM stands.

    Args:
        data_folder: With a ``postgresql.conf``.
    """
    lines = [f"{name} = '{value}'\n" for name, value in server_settings(psutil.virtual_memory().total).items()]
    file = data_folder / SETTINGS_FILE
    text = "# Written at each start of the server; set your own with ALTER SYSTEM.\n" + "".join(lines)
    # Every process that joins the server comes by here.
    if not file.exists() or file.read_text() != text:
        file.write_text(text)
        file.chmod(0o644)  # the server may run as a user of its own
    configuration = data_folder / "postgresql.conf"
    if _INCLUDE not in configuration.read_text():
        with configuration.open("a") as stream:
            stream.write(f"\n{_INCLUDE}\n")
