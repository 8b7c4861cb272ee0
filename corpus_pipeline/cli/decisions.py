"""Commands that show what was decided about documents: ``versions`` and ``duplicates``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import typer
from rich.tree import Tree

from corpus_pipeline import conversion, deduplication, versions
from corpus_pipeline.cli.app import CorpusArgument, JsonOption, app, state_of
from corpus_pipeline.cli.output import out, print_json, safe
from corpus_pipeline.records import DuplicateCluster, ExclusionReason, VersionDecision

__all__ = ["duplicates", "reason_in_words", "versions_command"]

Decisions = Mapping[str, VersionDecision]
WORDS: dict[ExclusionReason, str] = {
    ExclusionReason.SUPERSEDED: "superseded by {reference}",
    ExclusionReason.DUPLICATE: "duplicate of {reference}",
    ExclusionReason.COPY_OF_SUPERSEDED: "copy of {reference}, which is superseded",
    ExclusionReason.EXPIRED: "expired, valid until {valid_until}",
    ExclusionReason.NOT_YET_EFFECTIVE: "not in force before {valid_from}",
    ExclusionReason.DRAFT: "a draft",
    ExclusionReason.WITHDRAWN: "withdrawn",
    ExclusionReason.ARCHIVED: "archived",
    ExclusionReason.NEVER_ANSWER: "answer_use is never",
}


@app.command("versions")
def versions_command(context: typer.Context, corpus: CorpusArgument, as_json: JsonOption = False) -> None:
    """Show families of versions: which document is served, and what keeps the others out, by what and why."""
    state = state_of(context)
    state.registry.corpus(corpus)
    with state.database.connection() as connection:
        decisions = versions.version_decisions(connection, corpus)
        sources = {document.document_id: document.source_uri for document in conversion.documents(connection, corpus)}
    if as_json:
        print_json({"corpus": corpus, "documents": [_decision_json(entry, sources) for entry in decisions]})
        return
    families: dict[str, list[VersionDecision]] = {}
    for entry in decisions:
        families.setdefault(entry.family, []).append(entry)
    shown = {name: members for name, members in families.items() if len(members) > 1 or _is_notable(members[0])}
    for name, members in sorted(shown.items()):
        tree = Tree(f"[bold]{safe(name)}[/]")
        for member in sorted(members, key=lambda entry: (not _served(entry), entry.document_id)):
            tree.add(_decision_text(member))
        out.print(tree)
    served = sum(_served(entry) for entry in decisions)
    out.print(
        f"{len(decisions)} documents in {len(families)} families: {served} served, {len(decisions) - served} kept out; "
        f"{len(families) - len(shown)} families of one served document are not shown"
    )


def _served(entry: VersionDecision) -> bool:
    return entry.exclusion_reason is None


def _is_notable(entry: VersionDecision) -> bool:
    return not _served(entry) or entry.needs_review


def reason_in_words(entry: VersionDecision) -> str:
    """Why a document is kept out and by what; empty when it is served. Not yet safe for a terminal.

    A duplicate says what the served document says: its text is current, it is only not served twice.
    """
    if entry.exclusion_reason is None:
        return ""
    words = WORDS[entry.exclusion_reason].format(
        reference=entry.exclusion_ref or "an unnamed document",
        valid_from=entry.valid_from,
        valid_until=entry.valid_until,
    )
    if entry.exclusion_reason is ExclusionReason.COPY_OF_SUPERSEDED and entry.superseded_by:
        words += f" by {entry.superseded_by}"
    return words


def _decision_text(entry: VersionDecision) -> str:
    mark = "[green]served[/]" if _served(entry) else "[yellow]kept out[/]"
    details = [f"version {entry.version}"] if entry.version else []
    if _served(entry) and entry.valid_from:
        details.append(f"valid from {entry.valid_from}")
    if _served(entry) and entry.valid_until:
        details.append(f"valid until {entry.valid_until}")
    text = f"{mark}  {safe(entry.document_id)}"
    if details:
        text += f"  [dim]{safe(', '.join(details))}[/]"
    if entry.needs_review:
        text += "  [red](review)[/]"
    for line in (reason_in_words(entry), entry.evidence):
        if line:
            text += f"\n    [dim]{safe(line)}[/]"
    return text


def _decision_json(entry: VersionDecision, sources: Mapping[str, str]) -> dict[str, Any]:
    return {
        "document_id": entry.document_id,
        "source_uri": sources.get(entry.document_id),
        "family": entry.family,
        "version": entry.version,
        "lifecycle": entry.lifecycle,
        "is_current": entry.is_current,
        "served": _served(entry),
        "superseded_by": entry.superseded_by,
        "duplicate_of": entry.duplicate_of,
        "valid_from": entry.valid_from,
        "valid_until": entry.valid_until,
        "kept_out": entry.exclusion_reason,
        "kept_out_by": entry.exclusion_ref,
        "evidence": entry.evidence,
        "needs_review": entry.needs_review,
    }


@app.command()
def duplicates(context: typer.Context, corpus: CorpusArgument, as_json: JsonOption = False) -> None:
    """Show clusters of copies: the canonical member, and what became of the others with their similarity."""
    state = state_of(context)
    state.registry.corpus(corpus)
    with state.database.connection() as connection:
        clusters = deduplication.duplicate_clusters(connection, corpus)
        decisions = {entry.document_id: entry for entry in versions.version_decisions(connection, corpus)}
    if as_json:
        print_json({"corpus": corpus, "clusters": [_cluster_json(cluster, decisions) for cluster in clusters]})
        return
    for cluster in clusters:
        canonical = _canonical(cluster, decisions)
        tree = Tree(f"[bold]{safe(canonical)}[/] [dim]({cluster.kind}){_outcome(canonical, decisions)}[/]")
        for member in cluster.members:
            if member != canonical:
                similarity = cluster.similarity.get(member, 1.0)
                tree.add(f"{similarity:.3f} {safe(member)} [dim]{_outcome(member, decisions)}[/]")
        out.print(tree)
    out.print(f"{len(clusters)} clusters of copies in {safe(corpus)}")


def _outcome(member: str, decisions: Decisions) -> str:
    """What became of a member, as safe markup with a leading space; empty before versions are decided."""
    if member not in decisions:
        return ""
    return f" kept out: {safe(reason_in_words(decisions[member]))}" if not _served(decisions[member]) else " served"


def _canonical(cluster: DuplicateCluster, decisions: Decisions) -> str:
    """The served member; where none is, the one that the others are copies of, else the cluster's centre."""
    known = [decisions[member] for member in cluster.members if member in decisions]
    served = [entry.document_id for entry in known if _served(entry)]
    originals = [entry.duplicate_of for entry in known if entry.duplicate_of in cluster.members]
    return next((one for one in (*served, *originals) if one), cluster.centre_id or cluster.members[0])


def _cluster_json(cluster: DuplicateCluster, decisions: Decisions) -> dict[str, Any]:
    return {
        "cluster_id": cluster.cluster_id,
        "kind": cluster.kind,
        "canonical": _canonical(cluster, decisions),
        "centre": cluster.centre_id or cluster.members[0],
        "members": [
            {
                "document_id": member,
                "similarity": round(cluster.similarity.get(member, 1.0), 4),
                "served": _served(decisions[member]) if member in decisions else None,
                "kept_out": decisions[member].exclusion_reason if member in decisions else None,
            }
            for member in cluster.members
        ],
    }
