"""The loop of one worker process: read a job, convert, answer; ends after a number of files."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import tempfile
from pathlib import Path

from corpus_pipeline.compute import limit_memory, pack_frame, read_frame
from corpus_pipeline.conversion.job import ConversionJob, ConversionOutcome
from corpus_pipeline.conversion.single_file import capture_slice, convert_file
from corpus_pipeline.conversion.slicing import shown_pages
from corpus_pipeline.records import QuarantineReason

__all__ = ["OUT_OF_MEMORY_EXIT", "run_worker"]

OUT_OF_MEMORY_EXIT = 97
"""Exit status of a worker that ran out of memory and could not even say so."""


def run_worker(channel: socket.socket, folder: Path) -> None:
    """Serves jobs from ``channel`` until it is closed.

    Args:
        channel: To the supervisor.
        folder: Of this worker alone; temporary files go here and standard error is kept here.
    """
    _redirect(folder)
    stream = channel.makefile("rb")
    limited = False
    while (frame := read_frame(stream)) is not None:
        job = ConversionJob.from_head(frame[0])
        if not limited:  # every job of a pool has the same limits
            limit_memory(int(job.limits["memory_mb"]))
            limited = True
        exhausted = False
        try:
            outcome = capture_slice(job) if job.slice_pages else convert_file(job)
            message = pack_frame(outcome.to_head(), outcome.content)
        except MemoryError:
            exhausted = True
            shown = shown_pages({"slice_pages": job.slice_pages})
            message = pack_frame(out_of_memory(job.key, int(job.limits["memory_mb"]), shown).to_head())
        channel.sendall(message)
        if exhausted:
            os._exit(OUT_OF_MEMORY_EXIT)
        _empty(folder / "tmp")


def out_of_memory(key: str, memory_mb: int, shown: str = "the file") -> ConversionOutcome:
    """The outcome of a file that needs more memory than it may have; ``shown`` names the part of it."""
    return ConversionOutcome(
        key=key,
        reason=QuarantineReason.OUT_OF_MEMORY.value,
        message=f"converting {shown} took more than {memory_mb} MB of memory\n"
        "Raise conversion.limits.memory_mb, or split the file.",
    )


def _redirect(folder: Path) -> None:
    temporary = folder / "tmp"
    temporary.mkdir(parents=True, exist_ok=True)
    os.environ["TMPDIR"] = str(temporary)
    tempfile.tempdir = str(temporary)
    os.chdir(temporary)
    sys.stdout.flush()
    noise = os.open(folder / "noise", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(noise, 1)
    os.dup2(noise, 2)


def _empty(folder: Path) -> None:
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)
