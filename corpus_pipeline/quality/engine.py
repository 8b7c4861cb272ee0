"""Runs a suite of rules over batches with Great Expectations, in memory."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any

from corpus_pipeline.errors import GateError
from corpus_pipeline.quality.rules import CORPUS_BATCH, DOCUMENTS_BATCH, Batches, Rule

__all__ = ["run_suite"]

MAX_DOCUMENTS_LISTED = 200
INDEX_COLUMN = "document_id"


def run_suite(name: str, rules: Sequence[Rule], batches: Batches) -> list[dict[str, Any]]:
    """Evaluates every rule and returns one entry for each that failed.

    A column expectation passes on an empty batch, so each suite also needs a rule on the row
    count; an empty documents batch is therefore evaluated only by rules over the corpus batch.

    Returns:
        Entries with ``expectation``, ``severity``, ``expected``, ``found``, ``documents`` (at most
        200 ids), ``details`` (id to value), ``failing`` (how many) and ``remedy``.

    Raises:
        GateError: A rule could not be evaluated, which must never pass for success.
    """
    failures: list[dict[str, Any]] = []
    for batch_name, rows in ((CORPUS_BATCH, [batches.corpus]), (DOCUMENTS_BATCH, batches.documents)):
        chosen = [rule for rule in rules if rule.batch == batch_name]
        if not chosen or not rows:
            continue
        for rule, result in zip(chosen, _validate(f"{name}.{batch_name}", chosen, rows), strict=True):
            if result.exception_info and result.exception_info.get("raised_exception", True) and not result.success:
                raise GateError(
                    f"expectation {rule.name} of suite {name} could not be evaluated: "
                    f"{_exception_message(result.exception_info)}",
                    remedy="This is a fault of the suite, not of the documents; report it with this message.",
                )
            if not result.success:
                failures.append(_failure(rule, result.result, rows, batches))
    return failures


def _exception_message(info: dict[str, Any]) -> str:
    if "exception_message" in info:
        return str(info["exception_message"])
    return "; ".join(str(value.get("exception_message", value)) for value in info.values() if isinstance(value, dict))


@cache
def _context() -> Any:
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import great_expectations as gx
        from great_expectations.data_context.types.base import ProgressBarsConfig

        context = gx.get_context(mode="ephemeral")
        context.variables.progress_bars = ProgressBarsConfig(globally=False)
    return context


def _validate(name: str, rules: Sequence[Rule], rows: Sequence[dict[str, Any]]) -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import great_expectations as gx
        import pandas as pd

        context = _context()
        source = context.data_sources.add_or_update_pandas("rows")
        asset = source.add_dataframe_asset(name)
        batch = asset.add_batch_definition_whole_dataframe("all").get_batch({"dataframe": pd.DataFrame(list(rows))})
        suite = gx.ExpectationSuite(name=name)
        for position, rule in enumerate(rules):
            kind = getattr(gx.expectations, rule.expectation)
            suite.add_expectation(
                kind(**rule.arguments, severity=rule.severity, meta={"rule": rule.name, "position": position})
            )
        outcome = batch.validate(
            suite,
            result_format={
                "result_format": "COMPLETE",
                "partial_unexpected_count": 20,
                "unexpected_index_column_names": [INDEX_COLUMN] if INDEX_COLUMN in rows[0] else [],
                "return_unexpected_index_query": False,
            },
        )
    by_position = {result.expectation_config.meta["position"]: result for result in outcome.results}
    return [by_position[position] for position in range(len(rules))]


def _failure(rule: Rule, result: dict[str, Any], rows: Sequence[dict[str, Any]], batches: Batches) -> dict[str, Any]:
    documents = list(batches.culprits.get(rule.name, []))
    if rule.batch == DOCUMENTS_BATCH:
        documents = sorted({str(entry[INDEX_COLUMN]) for entry in result.get("unexpected_index_list") or []})
        found = f"{len(documents)} of {len(rows)} do not"
    else:
        column = rule.arguments.get("column")
        found = f"{column} = {_plain(rows[0].get(column))}" if column else str(result.get("observed_value"))
    if note := batches.notes.get(rule.name):
        found = f"{found} ({note})"
    details: dict[str, str] = {}
    if rule.detail:
        failing = set(documents)
        details = {
            str(row[INDEX_COLUMN]): str(_plain(row.get(rule.detail)))
            for row in batches.documents
            if str(row.get(INDEX_COLUMN)) in failing and row.get(rule.detail) not in (None, "")
        }
    return {
        "expectation": rule.name,
        "severity": rule.severity,
        "expected": rule.expected,
        "found": found,
        "documents": documents[:MAX_DOCUMENTS_LISTED],
        "details": {key: details[key] for key in documents[:MAX_DOCUMENTS_LISTED] if key in details},
        "failing": len(documents) or 1,
        "remedy": rule.remedy,
    }


def _plain(value: Any) -> Any:
    return round(value, 4) if isinstance(value, float) else value
