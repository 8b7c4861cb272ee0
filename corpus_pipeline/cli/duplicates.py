"""The command ``duplicates``: clusters of copies as trees, with reasons and the words that differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from rich.console import Group
from rich.text import Text
from rich.tree import Tree

from corpus_pipeline import conversion, deduplication, versions
from corpus_pipeline.cli.app import CorpusArgument, JsonOption, app, state_of
from corpus_pipeline.cli.decisions import is_served, reason_in_words
from corpus_pipeline.cli.differences import diff_json, diff_text
from corpus_pipeline.cli.output import out, print_json, safe
from corpus_pipeline.errors import CorpusPipelineError
from corpus_pipeline.records import Document, DuplicateCluster, DuplicateEdge, DuplicateKind, VersionDecision
from corpus_pipeline.store import Connection

__all__ = ["duplicates"]

Decisions = Mapping[str, VersionDecision]
Texts = Callable[[str], str | None]


@dataclass(frozen=True)
class _Copies:
    """Verified pairs, looked up by documents that may stand behind a representative."""

    edges: Mapping[tuple[str, str], DuplicateEdge]
    representative: Mapping[str, str]

    @classmethod
    def of(cls, edges: Iterable[DuplicateEdge]) -> _Copies:
        found = list(edges)
        return cls(
            {(edge.left_id, edge.right_id): edge for edge in found},
            {edge.right_id: edge.left_id for edge in found if edge.kind is DuplicateKind.EXACT},
        )

    def between(self, one: str, other: str) -> tuple[str, float, float] | None:
        """Kind, Jaccard and containment of two documents; ``None`` where they were not found alike."""
        left, right = sorted(self.representative.get(document, document) for document in (one, other))
        if left == right:
            return DuplicateKind.EXACT.value, 1.0, 1.0
        edge = self.edges.get((left, right))
        return (edge.kind.value, edge.jaccard, edge.containment) if edge else None


@app.command()
def duplicates(
    context: typer.Context,
    corpus: CorpusArgument,
    document: Annotated[
        str | None, typer.Argument(help="Only the cluster of this document.", show_default=False)
    ] = None,
    diff: Annotated[bool, typer.Option("--diff", help="Show the words in which copies differ.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show clusters of copies as trees: the canonical member and why, how alike the others are, what became of them."""
    state = state_of(context)
    state.registry.corpus(corpus)
    with state.database.connection() as connection:
        clusters = _chosen(deduplication.duplicate_clusters(connection, corpus), document, corpus)
        copies = _Copies.of(deduplication.duplicate_edges(connection, corpus))
        decisions = {entry.document_id: entry for entry in versions.version_decisions(connection, corpus)}
        texts = _texts(connection, corpus) if diff else None
        if as_json:
            found = [_cluster_json(cluster, copies, decisions, texts) for cluster in clusters]
            print_json({"corpus": corpus, "clusters": found})
            return
        for cluster in clusters:
            out.print(_tree(cluster, copies, decisions, texts))
    out.print(f"{len(clusters)} clusters of copies in {safe(corpus)}")


def _chosen(clusters: list[DuplicateCluster], document: str | None, corpus: str) -> list[DuplicateCluster]:
    if document is None:
        return clusters
    chosen = [cluster for cluster in clusters if document in cluster.members]
    if not chosen:
        raise CorpusPipelineError(
            f"{document} is in no cluster of copies of {corpus}",
            remedy=f"List the clusters: corpus-pipeline duplicates {corpus}.",
        )
    return chosen


def _texts(connection: Connection, corpus: str) -> Texts:
    """Reads converted texts by document; ``None`` for one that is no longer there."""
    documents: dict[str, Document] = {one.document_id: one for one in conversion.documents(connection, corpus)}

    def text(document_id: str) -> str | None:
        found = documents.get(document_id)
        return conversion.converted_document(connection, found).text if found else None

    return text


def _canonical(cluster: DuplicateCluster, decisions: Decisions) -> str:
    """The served member; where none is, the one that the others are copies of, else the cluster's centre."""
    known = [decisions[member] for member in cluster.members if member in decisions]
    served = [entry.document_id for entry in known if is_served(entry)]
    originals = [entry.duplicate_of for entry in known if entry.duplicate_of in cluster.members]
    return next((one for one in (*served, *originals) if one), cluster.centre_id or cluster.members[0])


def _outcome(member: str, decisions: Decisions) -> str:
    """What became of a member, as safe markup with a leading space; empty before versions are decided."""
    if member not in decisions:
        return ""
    return f" kept out: {safe(reason_in_words(decisions[member]))}" if not is_served(decisions[member]) else " served"


def _tree(cluster: DuplicateCluster, copies: _Copies, decisions: Decisions, texts: Texts | None) -> Tree:
    canonical = _canonical(cluster, decisions)
    tree = Tree(f"[bold]{safe(canonical)}[/] [dim]({cluster.kind}){_outcome(canonical, decisions)}[/]")
    for member in sorted(cluster.members, key=lambda one: (-cluster.similarity.get(one, 1.0), one)):
        if member == canonical:
            continue
        alike = f"{_alike(member, canonical, cluster, copies)}  {safe(member)} [dim]{_outcome(member, decisions)}[/]"
        lines = [Text.from_markup(alike)]
        if member in decisions and decisions[member].evidence:
            lines.append(Text.from_markup(f"  [dim]{safe(decisions[member].evidence)}[/]"))
        if texts and (difference := _pair(texts, canonical, member)):
            lines.append(diff_text(*difference))
        tree.add(Group(*lines))
    return tree


def _alike(member: str, canonical: str, cluster: DuplicateCluster, copies: _Copies) -> str:
    """How alike a member is to the canonical one; to the centre, where these two were not found alike."""
    found = copies.between(member, canonical)
    if found is None:
        centre = cluster.centre_id or cluster.members[0]
        return f"{cluster.similarity.get(member, 1.0):.3f} [dim]to {safe(centre)}[/]"
    kind, jaccard, containment = found
    return (
        f"{jaccard:.3f}" if kind == DuplicateKind.EXACT.value else f"{jaccard:.3f} [dim]contained {containment:.3f}[/]"
    )


def _pair(texts: Texts, canonical: str, member: str) -> tuple[str, str] | None:
    before, after = texts(canonical), texts(member)
    return None if before is None or after is None else (before, after)


def _cluster_json(
    cluster: DuplicateCluster, copies: _Copies, decisions: Decisions, texts: Texts | None
) -> dict[str, Any]:
    canonical = _canonical(cluster, decisions)
    members = [_member_json(member, canonical, cluster, copies, decisions) for member in cluster.members]
    for entry in members if texts else ():
        pair = _pair(texts, canonical, entry["document_id"]) if texts else None
        entry["diff"] = diff_json(*pair) if pair else None
    return {
        "cluster_id": cluster.cluster_id,
        "kind": cluster.kind,
        "canonical": canonical,
        "centre": cluster.centre_id or cluster.members[0],
        "members": members,
    }


def _member_json(
    member: str, canonical: str, cluster: DuplicateCluster, copies: _Copies, decisions: Decisions
) -> dict[str, Any]:
    kind, jaccard, containment = copies.between(member, canonical) or (None, None, None)
    decision = decisions.get(member)
    return {
        "document_id": member,
        "similarity": round(cluster.similarity.get(member, 1.0), 4),
        "relation": kind,
        "jaccard": None if jaccard is None else round(jaccard, 4),
        "containment": None if containment is None else round(containment, 4),
        "served": is_served(decision) if decision else None,
        "kept_out": decision.exclusion_reason if decision else None,
        "reason": decision.evidence if decision else None,
    }
