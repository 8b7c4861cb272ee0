"""A step is tried again for what may pass by itself, and for nothing else."""

from __future__ import annotations

import pytest
from dagster import Failure

from corpus_pipeline.errors import (
    CorpusPipelineError,
    DatabaseAuthenticationError,
    DatabaseConflictError,
    DatabaseUnreachableError,
    DiskFullError,
)
from corpus_pipeline.orchestration.assets import _clear_failures


@pytest.mark.parametrize(
    ("kind", "again"),
    [
        (DatabaseUnreachableError, True),
        (DatabaseConflictError, True),
        (DatabaseAuthenticationError, False),
        (DiskFullError, False),
    ],
)
def test_only_what_may_pass_by_itself_is_tried_again(kind: type[CorpusPipelineError], *, again: bool) -> None:
    def work() -> None:
        raise kind("what failed", remedy="what to do")

    with pytest.raises(Failure) as caught:
        _clear_failures(work)
    assert caught.value.allow_retries is again
    assert "what to do" in (caught.value.description or "")
