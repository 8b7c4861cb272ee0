"""Large files whose slices are spread over the workers: what is still to do, and what comes next.

The supervisor's bookkeeping; it reads no file. A file goes through three kinds of job: the first
look says into which slices it falls, each slice is captured by whichever worker is free, and one
more job puts the document together. A slice that cannot be read leaves the file to the next
converter of its route; one whose worker was stopped at a limit quarantines the file, because a
text whose middle depends on the load of a machine would not be the same the next time.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Job", "SlicedFiles", "shown_pages"]

Job = dict[str, Any]


@dataclass
class _SlicedFile:
    job: Job
    waiting: int
    budget: float
    seconds: float = 0.0
    failure: list[str] = field(default_factory=list)


class SlicedFiles:
    """The sliced files of one supervisor.

    Args:
        folder: Captured slices of each file go into a folder of their own below it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made = 0
        self._files: dict[str, _SlicedFile] = {}

    def admit(self, job: Job) -> Job:
        """The job with a folder for its slices, should it have any."""
        self._made += 1
        return {**job, "slice_folder": str(self._folder / f"slices-{self._made}")}

    def cut(self, job: Job, outcome: Job) -> list[Job]:
        """The jobs of the slices that the first look found."""
        ranges = outcome["slices"]
        common = {**job, "sliced_by": outcome["converter"], "slices": ranges, "file_format": outcome["file_format"]}
        budget = len(ranges) * float(job["limits"]["timeout_seconds"])
        self._files[job["key"]] = _SlicedFile(common, len(ranges), budget, outcome["elapsed_seconds"])
        Path(job["slice_folder"]).mkdir(exist_ok=True)
        return [{**common, "slice_pages": pages} for pages in ranges]

    def captured(self, job: Job, outcome: Job) -> Job | None:
        """Notes the end of a slice; the job that assembles the file when it was the last one."""
        file = self._files[job["key"]]
        file.waiting -= 1
        file.seconds += outcome["elapsed_seconds"]
        if outcome["reason"] and not file.failure:
            file.failure = [outcome["reason"], outcome["message"]]
        if file.waiting:
            return None
        limit = float(job["limits"]["timeout_seconds"])
        limits = {**job["limits"], "timeout_seconds": max(limit, file.budget - file.seconds)}
        return {**file.job, "limits": limits, "assembles": True, "slice_failure": file.failure}

    def end(self, job: Job) -> float:
        """Forgets a file and its slices; the seconds its slices took."""
        file = self._files.pop(job["key"], None)
        if file is not None:
            shutil.rmtree(job["slice_folder"], ignore_errors=True)
        return file.seconds if file else 0.0


def shown_pages(job: Job) -> str:
    """How a message names what a job worked on.

    >>> shown_pages({"slice_pages": [101, 200]}), shown_pages({"slice_pages": []})
    ('pages 101 to 200 of the file', 'the file')
    """
    pages = job.get("slice_pages")
    return f"pages {pages[0]} to {pages[1]} of the file" if pages else "the file"
