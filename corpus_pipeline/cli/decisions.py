"""The command ``duplicates``, and in words why a document is kept out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import typer
from rich.tree import Tree

from corpus_pipeline import deduplication, versions
from corpus_pipeline.cli.app import CorpusArgument, JsonOption, app, state_of
from corpus_pipeline.cli.output import out, print_json, safe
from corpus_pipeline.records import DuplicateCluster, ExclusionReason, VersionDecision

__all__ = ["duplicates", "is_served", "reason_in_words"]

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


def is_served(entry: VersionDecision) -> bool:
    """A search can find it: nothing keeps it out."""
    return entry.exclusion_reason is None


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
    return f" kept out: {safe(reason_in_words(decisions[member]))}" if not is_served(decisions[member]) else " served"


def _canonical(cluster: DuplicateCluster, decisions: Decisions) -> str:
    """The served member; where none is, the one that the others are copies of, else the cluster's centre."""
    known = [decisions[member] for member in cluster.members if member in decisions]
    served = [entry.document_id for entry in known if is_served(entry)]
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
                "served": is_served(decisions[member]) if member in decisions else None,
                "kept_out": decisions[member].exclusion_reason if member in decisions else None,
            }
            for member in cluster.members
        ],
    }
