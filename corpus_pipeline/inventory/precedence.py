"""Which declaration of a metadata key counts.

Weakest first: corpus defaults, the document's own properties, front matter, a sidecar in its
container, manifest, sidecar, ``documents:`` of corpora.yaml. What a document or its container
says of itself (properties, front matter, sidecars in containers) may narrow its access, trust and
use, never widen them: whoever can write a file must not be able to publish it to more people than
the corpus allows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, get_args

from corpus_pipeline.records import AnswerUse, DocumentMetadata, TrustLevel
from corpus_pipeline.registry import PASSWORD_KEY, CorpusSpec, GlobSet, has_wildcard, read_declared

__all__ = ["EVERYONE", "Layer", "documents_layer", "merge_layers", "merge_metadata", "narrowed_to_nobody"]

EVERYONE = "everyone"
"""The group that all readers are in: narrowing it gives the narrower groups."""

CORPUS_DEFAULT = "corpus default"
PROPERTY = "document property"
FRONT_MATTER = "front matter"
INNER_SIDECAR = "sidecar in its container"
MANIFEST = "manifest"
SIDECAR = "sidecar"
REGISTRY = "registry"

Layer = tuple[str, Mapping[str, Any]]
"""Where metadata comes from, and its values by canonical key."""

_SELF_DECLARED = frozenset({PROPERTY, FRONT_MATTER, INNER_SIDECAR})
_PROPERTY_KEYS = {
    "title": "title",
    "language": "language",
    "version": "version",
    "last_reviewed_at": "last_reviewed_at",
}
_MODIFIED_KEYS = ("modified", "last_modified", "moddate", "modified_at")
_USES: tuple[str, ...] = get_args(AnswerUse)  # widest first
_TRUST = tuple(level.value for level in TrustLevel)  # highest first


def merge_layers(layers: Iterable[Layer]) -> tuple[dict[str, Any], dict[str, str]]:
    """Merges declarations, weakest first; attributes are merged name by name.

    Returns:
        Values by key, and where each came from; an attribute's origin is under ``attributes.NAME``.
    """
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for origin, declared in layers:
        for key, value in declared.items():
            if key == "attributes":
                values[key] = {**values.get(key, {}), **value}
                origins.update({f"attributes.{name}": origin for name in value})
            else:
                values[key] = value
                origins[key] = origin
    return values, origins


def documents_layer(spec: CorpusSpec, relative_path: str) -> Layer:
    """What ``documents:`` of the corpus says of a file: globs in file order, then its exact path."""
    matching = [keys for pattern, keys in spec.documents.items() if _is_glob_for(pattern, relative_path)]
    if relative_path in spec.documents:
        matching.append(spec.documents[relative_path])
    metadata = ({key: value for key, value in keys.items() if key != PASSWORD_KEY} for keys in matching)
    values, _ = merge_layers((REGISTRY, read_declared(keys).values) for keys in metadata)
    return REGISTRY, values


def _is_glob_for(pattern: str, relative_path: str) -> bool:
    return pattern != relative_path and has_wildcard(pattern) and GlobSet([pattern]).matches(relative_path)


def merge_metadata(
    spec: CorpusSpec,
    relative_path: str,
    declared: Mapping[str, Any],
    declared_by: Mapping[str, str],
    properties: Mapping[str, str],
) -> tuple[DocumentMetadata, dict[str, str]]:
    """All metadata of a document.

    Args:
        spec: Supplies the defaults and, once more, the overrides, which name members of archives.
        relative_path: Path below the source.
        declared: As in :class:`SourceFile`.
        declared_by: As in :class:`SourceFile`.
        properties: The converted document's own; only title, language, version, a review date
            and a modification date (kept as attribute ``modified_on``) count.

    Returns:
        The metadata, and for each key where it came from.
    """
    declared = {key: value for key, value in declared.items() if key != PASSWORD_KEY}  # no metadata: it opens the file
    own = _property_layer(properties)
    weak = {key: value for key, value in own[1].items() if key not in declared}
    attributes = {**own[1].get("attributes", {}), **declared.get("attributes", {})}
    values: dict[str, Any] = {**weak, **declared, "attributes": attributes}
    origins = {**dict.fromkeys(weak, PROPERTY), **declared_by}
    if "modified_on" in own[1].get("attributes", {}):
        origins.setdefault("attributes.modified_on", PROPERTY)
    origins.pop("attributes", None)
    origins.pop(PASSWORD_KEY, None)
    overrides = documents_layer(spec, relative_path)
    merged, merged_origins = merge_layers([("", values), overrides])
    origins = {**origins, **{key: origin for key, origin in merged_origins.items() if origin}}
    return _with_defaults(spec, merged, origins)


def _with_defaults(
    spec: CorpusSpec, values: dict[str, Any], origins: dict[str, str]
) -> tuple[DocumentMetadata, dict[str, str]]:
    defaults = _corpus_defaults(spec)
    result = {key: value for key, value in defaults.items() if value is not None} | values
    provenance = {key: CORPUS_DEFAULT for key, value in defaults.items() if value is not None} | origins
    for key in ("acl_groups", "trust_level", "answer_use"):
        if provenance[key] in _SELF_DECLARED:
            narrowed = _narrowed(key, defaults[key], values[key])
            if narrowed == defaults[key]:
                provenance[key] = CORPUS_DEFAULT
            result[key] = narrowed
    return DocumentMetadata.model_validate(result), dict(sorted(provenance.items()))


def narrowed_to_nobody(spec: CorpusSpec, declared: Mapping[str, Any], declared_by: Mapping[str, str]) -> bool:
    """Whether front matter names only groups that the corpus does not have."""
    named = declared.get("acl_groups")
    return (
        bool(named)
        and declared_by.get("acl_groups") in _SELF_DECLARED
        and not _narrowed("acl_groups", list(spec.access_groups), named)
    )


def _corpus_defaults(spec: CorpusSpec) -> dict[str, Any]:
    return {
        "source_class": spec.source_class,
        "source_type": spec.source_type,
        "domain": spec.domain,
        "product": spec.product,
        "audience": spec.audience,
        "answer_use": spec.answer_use,
        "acl_groups": list(spec.access_groups),
        "lifecycle": spec.lifecycle.value,
        "trust_level": spec.trust_level.value,
        "owner": spec.owner,
    }


def _narrowed(key: str, allowed: Any, asked: Any) -> Any:
    if key == "acl_groups":
        if EVERYONE in allowed:
            return list(asked)
        return list(allowed) if EVERYONE in asked else [group for group in allowed if group in asked]
    order = _USES if key == "answer_use" else _TRUST
    return max(allowed, asked, key=order.index)


def _property_layer(properties: Mapping[str, str]) -> Layer:
    written = {re.sub(r"[\s\-:]+", "_", key.strip().lower()): value for key, value in properties.items()}
    values: dict[str, Any] = {
        key: written[name] for name, key in _PROPERTY_KEYS.items() if isinstance(written.get(name), str)
    }
    modified = next((written[name] for name in _MODIFIED_KEYS if written.get(name)), None)
    found = read_declared(values).values
    if modified is not None:
        day = read_declared({"valid_from": _iso_date(modified)}).values.get("valid_from")
        if day:
            found["attributes"] = {"modified_on": day}
    return PROPERTY, found


def _iso_date(text: str) -> str:
    pdf = re.match(r"D:(\d{4})(\d{2})(\d{2})", text)  # the date form of PDF, ISO 32000-1, 7.9.4
    return "-".join(pdf.groups()) if pdf else text
