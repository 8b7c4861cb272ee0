"""The process that opens containers: ``python -m corpus_pipeline.inventory.container_worker MEMORY_MB``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from corpus_pipeline.compute import serve_requests
from corpus_pipeline.errors import ConversionError
from corpus_pipeline.inventory.unpacking import Unpacking
from corpus_pipeline.records import QuarantineReason

__all__ = ["answer"]


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Unpacks the container of a request.

    Args:
        request: ``path`` and ``name`` of the container, ``folder`` to write to, ``limits``,
            ``password``, and ``wanted`` paths or ``None``.

    Returns:
        ``kind`` (empty when it is none), ``reason`` and ``message`` when it is refused, ``members``.
    """
    unpacking = Unpacking(Path(request["folder"]), request["limits"], request["password"], request["wanted"])
    reason, message = "", ""
    try:
        unpacking.unpack(Path(request["path"]), request["name"])
    except ConversionError as error:
        reason, message = str(error.reason), str(error)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - damaged input raises whatever it likes; it is this container's alone
        reason = QuarantineReason.CONVERTER_ERROR.value
        message = (
            f"the container cannot be opened ({type(error).__name__})\n"
            "Unpack it into the source folder, or leave it out with source.exclude."
        )
    members = [] if reason else [member.to_head() for member in unpacking.members]
    kind = unpacking.kind.value if unpacking.kind else ""
    return {"kind": kind, "reason": reason, "message": message, "members": members}


if __name__ == "__main__":
    sys.exit(serve_requests(answer, sys.argv[1:]))
