"""The command ``versions``: families, conflicts, and what held on an earlier day."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any

import typer
from rich.text import Text

from corpus_pipeline import conversion, versions
from corpus_pipeline.cli.app import CorpusArgument, JsonOption, State, app, state_of
from corpus_pipeline.cli.decisions import is_served, reason_in_words
from corpus_pipeline.cli.differences import diff_json, diff_text
from corpus_pipeline.cli.output import out, print_json, safe
from corpus_pipeline.cli.version_tree import family_tree, is_notable
from corpus_pipeline.errors import CorpusPipelineError
from corpus_pipeline.records import Document, VersionDecision, VersionRelation
from corpus_pipeline.store import Connection

__all__ = ["versions_command"]

TIME_FORMATS = ["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%dT%H:%M:%S.%f%z"]

Families = dict[str, list[VersionDecision]]


@app.command("versions")
def versions_command(
    context: typer.Context,
    corpus: CorpusArgument,
    family: Annotated[
        str | None, typer.Argument(help="Only this family, or the family of this document.", show_default=False)
    ] = None,
    diff: Annotated[bool, typer.Option("--diff", help="Show the words that differ between neighbours.")] = False,
    as_of: Annotated[
        datetime | None,
        typer.Option("--as-of", formats=["%Y-%m-%d"], show_default=False, help="What held on this day."),
    ] = None,
    known_at: Annotated[
        datetime | None,
        typer.Option(
            "--known-at",
            formats=TIME_FORMATS,
            show_default=False,
            help="As it was known at this time, UTC. Default: now.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show families of versions: what is served, what replaced what and why, and what contradicts itself.

    With --as-of and --known-at it says what held on a day, as the nights until then had decided.
    """
    state = state_of(context)
    state.registry.corpus(corpus)
    if as_of is not None or known_at is not None:
        _show_day(state, corpus, family, as_of, known_at, as_json=as_json)
        return
    with state.database.connection() as connection:
        decisions = versions.version_decisions(connection, corpus)
        documents = {document.document_id: document for document in conversion.documents(connection, corpus)}
        relations = versions.version_relations(connection, corpus)
        conflicts = versions.version_conflicts(connection, corpus)
        shown = _chosen(decisions, family)
        texts = _Texts(connection, documents)
        if as_json:
            print_json(_json(corpus, shown, (relations, conflicts), texts, diff=diff))
            return
        _print_families(shown, relations, texts if diff else None, everything=family is not None)
    if family is None:
        _print_conflicts(conflicts)
        _print_summary(decisions)


class _Texts:
    """Converted texts, read when a difference needs them."""

    def __init__(self, connection: Connection, documents: Mapping[str, Document]) -> None:
        self._connection = connection
        self.documents = documents

    def pair(self, older: str, newer: str) -> tuple[str, str] | None:
        """Both texts, or ``None`` when one document is no longer there."""
        if older not in self.documents or newer not in self.documents:
            return None
        one, other = (
            conversion.converted_document(self._connection, self.documents[document]).text
            for document in (older, newer)
        )
        return one, other

    def difference(self, older: str, newer: str) -> Text | None:
        """The difference for a terminal."""
        pair = self.pair(older, newer)
        return diff_text(*pair) if pair else None


def _chosen(decisions: Sequence[VersionDecision], family: str | None) -> list[VersionDecision]:
    if family is None:
        return list(decisions)
    names = {entry.family for entry in decisions if family in (entry.family, entry.document_id)}
    if not names:
        raise CorpusPipelineError(
            f"no family and no document of this corpus is called {family!r}",
            remedy="List them without a name: corpus-pipeline versions CORPUS --json",
        )
    return [entry for entry in decisions if entry.family in names]


def _families(decisions: Sequence[VersionDecision]) -> Families:
    families: Families = {}
    for entry in decisions:
        families.setdefault(entry.family, []).append(entry)
    return dict(sorted(families.items()))


def _print_families(
    decisions: Sequence[VersionDecision],
    relations: Sequence[VersionRelation],
    texts: _Texts | None,
    *,
    everything: bool,
) -> None:
    of_older: dict[str, list[VersionRelation]] = defaultdict(list)
    for relation in relations:
        if relation.target_id is not None:
            of_older[relation.target_id].append(relation)
    for name, members in _families(decisions).items():
        if everything or is_notable(members):
            out.print(family_tree(name, members, of_older, texts.difference if texts else None))


def _print_conflicts(conflicts: Sequence[versions.VersionConflict]) -> None:
    if not conflicts:
        return
    out.print("[bold]Conflicts[/] [dim](a line for corpora.yaml below each would settle it)[/]")
    for conflict in conflicts:
        mark = "[green]settled[/]" if conflict.resolved else "[red]open[/]"
        out.print(f"{mark}  {conflict.kind.value.replace('_', ' ')}: {safe(conflict.message)}")
        out.print(f"    [dim]{safe(conflict.suggestion)}[/]")


def _print_summary(decisions: Sequence[VersionDecision]) -> None:
    families = _families(decisions)
    served = sum(is_served(entry) for entry in decisions)
    hidden = sum(not is_notable(members) for members in families.values())
    review = sum(entry.needs_review for entry in decisions)
    out.print(
        f"{len(decisions)} documents in {len(families)} families: {served} served, {len(decisions) - served} kept out"
        f"{f', {review} for review' if review else ''}; {hidden} families of one served document are not shown"
    )


def _json(
    corpus: str,
    decisions: Sequence[VersionDecision],
    found: tuple[Sequence[VersionRelation], Sequence[versions.VersionConflict]],
    texts: _Texts,
    *,
    diff: bool,
) -> dict[str, Any]:
    relations, conflicts = found
    known = {entry.document_id for entry in decisions}
    entries = []
    for entry in decisions:
        made = decision_json(entry, texts.documents)
        if diff:
            pair = texts.pair(entry.document_id, entry.superseded_by) if entry.superseded_by else None
            made["diff"] = diff_json(*pair) if pair else None
        entries.append(made)
    return {
        "corpus": corpus,
        "documents": entries,
        "relations": [one.model_dump(mode="json") for one in relations if {one.source_id, one.target_id} & known],
        "conflicts": [
            one.model_dump(mode="json") for one in conflicts if not one.documents or set(one.documents) & known
        ],
    }


def decision_json(entry: VersionDecision, documents: Mapping[str, Document]) -> dict[str, Any]:
    """One document as docs/cli.md describes it."""
    document = documents.get(entry.document_id)
    return {
        "document_id": entry.document_id,
        "source_uri": document.source_uri if document else None,
        "family": entry.family,
        "version": entry.version,
        "lifecycle": entry.lifecycle,
        "is_current": entry.is_current,
        "served": is_served(entry),
        "superseded_by": entry.superseded_by,
        "duplicate_of": entry.duplicate_of,
        "valid_from": entry.valid_from,
        "valid_until": entry.valid_until,
        "kept_out": entry.exclusion_reason,
        "kept_out_by": entry.exclusion_ref,
        "evidence": entry.evidence,
        "needs_review": entry.needs_review,
        "series_key": entry.series_key,
        "period_label": entry.period_label,
        "period_end": entry.period_end,
        "is_latest": entry.is_latest,
        "organisation": entry.organisation,
    }


def _show_day(
    state: State, corpus: str, family: str | None, as_of: datetime | None, known_at: datetime | None, *, as_json: bool
) -> None:
    """What held on a day, as known at a time."""
    known = known_at.replace(tzinfo=known_at.tzinfo or UTC) if known_at else None
    day = as_of.date() if as_of else known.astimezone(UTC).date() if known else state.settings.decision_date
    with state.database.connection() as connection:
        states = versions.states_on(versions.held_decisions(connection, corpus, known), day)
    chosen = {entry.document_id for entry in _chosen([one.decision for one in states], family)}
    states = [one for one in states if one.document_id in chosen]
    if as_json:
        print_json({"corpus": corpus, "as_of": day, "known_at": known, "documents": [_day_json(one) for one in states]})
        return
    for one in states:
        out.print(Text.from_markup(_day_text(one)))
    in_force = sum(one.in_force for one in states)
    out.print(
        f"{len(states)} documents of {safe(corpus)} on {day}, as known {_known_words(known)}: {in_force} in force"
    )


def _known_words(known: datetime | None) -> str:
    return f"at {known.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if known else "now"


def _day_text(one: versions.DayState) -> str:
    mark = "[green]in force[/]" if one.in_force else "[yellow]not in force[/]"
    entry = one.decision.model_copy(update={"exclusion_reason": one.reason})
    why = "; ".join(part for part in (reason_in_words(entry), one.basis) if part)
    return f"{mark}  {safe(one.document_id)}{f'  [dim]{safe(why)}[/]' if why else ''}"


def _day_json(one: versions.DayState) -> dict[str, Any]:
    return {
        "document_id": one.document_id,
        "in_force": one.in_force,
        "kept_out": one.reason,
        "superseded_by": one.decision.superseded_by,
        "family": one.decision.family,
        "valid_from": one.decision.valid_from,
        "valid_until": one.decision.valid_until,
        "basis": one.basis,
    }
