"""The published figures of benchmarks/versions hold on the real corpora."""

from __future__ import annotations

import importlib.util
import sys
from datetime import date
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parents[3] / "benchmarks" / "versions"
AS_OF = date(2026, 11, 1)

pytestmark = [pytest.mark.data, pytest.mark.slow]


def benchmark(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"versions_benchmark_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_peps(real_data: Path) -> None:
    found = benchmark("peps").measure(real_data / "peps", AS_OF)
    assert found["precision"] >= 0.99
    assert found["recall"] >= 0.97
    assert found["stale_though_successor_not_in_force"] == []


def test_rfcs(real_data: Path) -> None:
    found = benchmark("rfcs").measure(real_data / "rfcs", AS_OF)
    assert found["obsoletes"]["recall"] >= 0.97
    assert found["obsoletes_with_indirect"]["precision"] >= 0.99
    assert found["obsoletes_against_index_and_headers"]["precision"] >= 0.99
    assert found["obsoletes_in_no_header_nor_index"] == {}
    assert found["updates"]["recall"] >= 0.90
    assert found["updates_against_index_and_headers"]["precision"] >= 0.97


def test_terms_with_their_file_names(real_data: Path) -> None:
    found = benchmark("terms").measure(real_data / "terms_versions", AS_OF, random_names=False)
    assert found["membership"]["f1"] >= 0.98
    assert found["families_with_latest_current"] >= 0.99 * found["families"]
    assert found["kendall_tau"]["tau_of_ordered_pairs"] >= 0.99
    assert found["stale_without_reason"] == 0


def test_terms_with_random_names(real_data: Path) -> None:
    found = benchmark("terms").measure(real_data / "terms_versions", AS_OF, random_names=True)
    assert found["membership"]["f1"] >= 0.90
    assert found["stale_without_reason"] == 0
    assert found["kendall_tau"]["tau_of_ordered_pairs"] >= 0.95


def test_formats_of_one_rfc_are_one_document(real_data: Path) -> None:
    texts = benchmark("corpus_texts")
    from corpus_pipeline.versions import resolve

    formats = sorted(path.name for path in (real_data / "rfcs" / "formats").iterdir())
    numbers = {name: f"Request for Comments: {name[3:].split('.')[0]}\n\n{name}" for name in formats}
    found = resolve(*texts.read("rfcs", numbers), [], [], texts.spec_of("rfcs"), AS_OF)
    assert sum(one.exclusion_reason is None for one in found.decisions) == len({name.split(".")[0] for name in formats})


def test_quarterly_reports_are_series_with_the_right_latest_member(real_data: Path) -> None:
    found = benchmark("quarters").measure(real_data / "sec_10q", AS_OF, pdf=("pdfium-text",))
    assert (len(found["series"]), found["series_in_order"], found["series_with_right_latest"]) == (5, 5, 5)
    assert found["period_end_as_stated"] == found["documents"]
    assert found["superseded"] == 0
    fiscal = {name.rsplit(" ", 1)[1] for name in found["flagged"]}
    assert fiscal == {"AAPL.pdf", "MSFT.pdf", "NVDA.pdf"}


def test_three_nights_of_peps(real_data: Path, tmp_path: Path) -> None:
    found = benchmark("nights").measure(real_data / "peps", tmp_path)
    assert [night["wrong"] for night in found["nights"]] == [[], [], []]
    for night in found["nights"]:
        again = night["same_night_again"]
        assert (again["conversion"]["converted"], again["versions"]["extracted"]) == (0, 0)
        assert again["versions"]["unchanged"]
    assert all(one["same_as_then"] and one["same_day_as_known_today"] for one in found["asked_afterwards"])
