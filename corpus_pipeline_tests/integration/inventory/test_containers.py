"""Archives and mails in the inventory: members are files, hostile ones are quarantined, nothing is opened twice."""

from __future__ import annotations

import gzip
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import fsspec
import pytest
from pydantic import SecretStr

from corpus_pipeline.conversion import request_replay
from corpus_pipeline.errors import SourceChangedError
from corpus_pipeline.inventory import (
    MemberCopies,
    local_copy,
    merge_metadata,
    source_changes,
    source_files,
    take_inventory,
)
from corpus_pipeline.records import SourceFile, sha256_hex
from corpus_pipeline.registry import SourceSpec
from corpus_pipeline.store import StageContext, StageResult
from corpus_pipeline_tests.packing import encrypted_zip_of, mail_of, tar_of, zip_of


def files(context: StageContext) -> dict[str, SourceFile]:
    with context.database.connection() as connection:
        return {file.relative_path: file for file in source_files(connection, context.spec.slug)}


def inventory(context: StageContext) -> StageResult:
    time.sleep(0.08)  # longer than a tick of the file system's clock, so that unchanged files are not read again
    return take_inventory(context)


def with_spec(context: StageContext, **update: Any) -> StageContext:
    return replace(context, spec=context.spec.model_copy(update=update))


def with_conversion(context: StageContext, **update: Any) -> StageContext:
    return with_spec(context, conversion=context.spec.conversion.model_copy(update=update))


def kept(result: StageResult, *names: str) -> tuple[int, ...]:
    return tuple(result.counts[name] for name in names)


def test_members_are_files_with_ids_of_their_own(context: StageContext, corpus_folder: Path) -> None:
    (corpus_folder / "in").mkdir()
    (corpus_folder / "in" / "reports.zip").write_bytes(
        zip_of({"2024/q1.md": "---\ntitle: Q1\n---\nBody\n", "b.txt": "B"})
    )
    (corpus_folder / "mail.eml").write_bytes(bytes(mail_of("Hello", [("plan.txt", b"P")])))
    result = inventory(context)
    found = files(context)
    assert list(found) == ["in/reports.zip!/2024/q1.md", "in/reports.zip!/b.txt", "mail.eml", "mail.eml!/plan.txt"]
    first = found["in/reports.zip!/2024/q1.md"]
    assert first.document_id == "handbook/in/reports.zip!/2024/q1.md"
    assert first.source_uri == str(corpus_folder / "in" / "reports.zip!/2024/q1.md")
    assert (first.extension, first.declared, first.container) == ("md", {"title": "Q1"}, "in/reports.zip")
    assert found["in/reports.zip!/b.txt"].sha256 == sha256_hex("B")
    assert found["mail.eml"].container == ""
    assert kept(result, "files", "containers", "containers_opened", "members") == (4, 2, 2, 3)
    assert not list((context.settings.state_folder / "scratch").iterdir()), "nothing is left behind"


def test_an_unchanged_archive_is_not_opened_again_and_a_changed_one_changes_its_members_only(
    context: StageContext, corpus_folder: Path
) -> None:
    archive = corpus_folder / "a.tar.gz"
    archive.write_bytes(tar_of({f"{number}.txt": f"text {number}" for number in range(8)}))
    first = inventory(context)
    second = inventory(context)
    assert kept(second, "containers_opened", "files_read", "changed") == (0, 0, 0)
    assert second.output_sha256 == first.output_sha256
    members = {f"{number}.txt": f"text {number}" for number in range(1, 8)}
    archive.write_bytes(tar_of({**members, "1.txt": "other", "new.txt": "new"}))
    third = inventory(context)
    assert kept(third, "containers_opened", "added", "changed", "removed") == (1, 1, 1, 1)
    assert "a.tar.gz!/0.txt" not in files(context)


def test_a_moved_archive_renames_its_members(context: StageContext, corpus_folder: Path) -> None:
    (corpus_folder / "b.md").write_text("stays")
    (corpus_folder / "a.zip").write_bytes(zip_of({"x.txt": "X"}))
    inventory(context)
    (corpus_folder / "a.zip").rename(corpus_folder / "c.zip")
    inventory(with_spec(context, gates=context.spec.gates.model_copy(update={"max_removed_ratio": 1.0})))
    with context.database.connection() as connection:
        newest = {row["document_id"]: row["renamed_from"] for row in source_changes(connection, "handbook", most=2)}
    assert newest["handbook/c.zip!/x.txt"] == "handbook/a.zip!/x.txt"


def test_an_archive_that_vanishes_with_many_members_is_held(context: StageContext, corpus_folder: Path) -> None:
    (corpus_folder / "b.md").write_text("stays")
    (corpus_folder / "a.zip").write_bytes(zip_of({f"{number}.txt": str(number) for number in range(5)}))
    inventory(context)
    (corpus_folder / "a.zip").unlink()
    short = inventory(context)
    assert kept(short, "files", "held_removals", "removed") == (6, 5, 0)
    (corpus_folder / "a.zip").write_bytes(zip_of({f"{number}.txt": str(number) for number in range(5)}))
    assert kept(inventory(context), "restored", "held_removals") == (5, 0)


def test_an_archive_that_was_quarantined_before_becomes_its_members(context: StageContext, corpus_folder: Path) -> None:
    (corpus_folder / "a.zip").write_bytes(gzip.compress(bytes(60_000_000)))
    inventory(context)
    assert files(context)["a.zip"].refusal == "bomb"
    (corpus_folder / "a.zip").write_bytes(zip_of({"x.txt": "X"}))
    assert kept(inventory(context), "added", "removed", "held_removals") == (1, 1, 0)
    assert list(files(context)) == ["a.zip!/x.txt"]


def test_a_refused_archive_stands_for_itself_and_takes_nothing_else_down(
    context: StageContext, corpus_folder: Path
) -> None:
    refused = {
        "bomb.gz": (gzip.compress(bytes(60_000_000)), "bomb"),
        "cut.tgz": (tar_of({"a.txt": "A" * 9000})[:-60], "corrupt"),
        "locked.zip": (encrypted_zip_of({"a.txt": "A"}, "x"), "encrypted"),
        "none.zip": (zip_of({}), "empty"),
    }
    for name, (content, _) in refused.items():
        (corpus_folder / name).write_bytes(content)
    (corpus_folder / "good.zip").write_bytes(zip_of({"x.txt": "X"}))
    inventory(context)
    found = files(context)
    assert {path: file.refusal for path, file in found.items()} == {
        "good.zip!/x.txt": "", **{name: reason for name, (_, reason) in refused.items()},
    }  # fmt: skip
    assert all(len(found[name].doubt.splitlines()) == 2 for name in refused), "what is wrong, and what to do"


def test_limits_of_time_and_size_hold_for_opening(context: StageContext, corpus_folder: Path) -> None:
    (corpus_folder / "slow.tar.gz").write_bytes(tar_of({f"{number}.txt": "x" * 20_000 for number in range(400)}))
    late = context.spec.conversion.limits.model_copy(update={"timeout_seconds": 0.01})
    inventory(with_conversion(context, limits=late))
    assert files(context)["slow.tar.gz"].refusal == "timeout"
    small = context.spec.conversion.limits.model_copy(update={"max_bytes": 100})
    inventory(with_conversion(context, limits=small))
    assert files(context)["slow.tar.gz"].refusal == "too_large"
    assert kept(inventory(context), "members", "containers_opened") == (400, 1), "other limits open it again"


def test_a_password_opens_an_encrypted_archive(context: StageContext, corpus_folder: Path) -> None:
    (corpus_folder / "locked.zip").write_bytes(encrypted_zip_of({"a.txt": "A"}, "se sam"))
    inventory(context)
    assert list(files(context)) == ["locked.zip"]
    with_password = with_conversion(context, password=SecretStr("se sam"))
    inventory(with_password)
    found = files(context)
    assert list(found) == ["locked.zip!/a.txt"]
    with local_copy(with_password.spec, found["locked.zip!/a.txt"]) as path:
        assert path.read_text() == "A"
    inventory(with_conversion(context, password=SecretStr("other")))
    assert files(context)["locked.zip"].refusal == "encrypted", "another password opens it again"
    (corpus_folder / "locked.zip.meta.yaml").write_text("password: se sam\n")
    inventory(context)
    found = files(context)
    assert list(found) == ["locked.zip!/a.txt"]
    assert "password" not in found["locked.zip!/a.txt"].declared
    with local_copy(context.spec, found["locked.zip!/a.txt"]) as path:
        assert path.read_text() == "A"


def test_globs_apply_to_members(context: StageContext, corpus_folder: Path) -> None:
    (corpus_folder / "a.zip").write_bytes(zip_of({"keep/x.md": "X", "drafts/y.md": "Y", "z.txt": "Z"}))
    (corpus_folder / "secret.zip").write_bytes(zip_of({"s.md": "S"}))
    source = SourceSpec(url="docs", include=("**/*.md", "**/*.zip"), exclude=("secret.zip", "a.zip!/drafts/**"))
    result = inventory(with_spec(context, source=source))
    assert list(files(context)) == ["a.zip!/keep/x.md"]
    assert result.counts["excluded"] == 3


def test_metadata_reaches_members_and_a_container_cannot_widen_access(
    context: StageContext, corpus_folder: Path
) -> None:
    (corpus_folder / "hr.zip").write_bytes(
        zip_of(
            {
                "a.md": "---\nacl_groups: [everyone]\nowner: ada\n---\nA",
                "b.md": "B",
                "b.md.meta.yaml": "acl_groups: [everyone]\ntitle: The B\n",
                "c.md": "C",
            }
        )
    )
    (corpus_folder / "hr.zip.meta.yaml").write_text("title: All of HR\nacl_groups: [hr]\nproduct: people\n")
    (corpus_folder / "open.zip").write_bytes(
        zip_of({"d.md": "D", "d.md.meta.yaml": "acl_groups: [everyone]\ntrust_level: VERIFIED\n"})
    )
    (corpus_folder / "m.csv").write_text("path,region\nhr.zip!/c.md,CH\n")
    narrow = with_spec(
        context,
        source=SourceSpec(url="docs", manifest="m.csv"),
        access_groups=("staff", "hr"),
        documents={"hr.zip!/c.md": {"version": "7"}},
    )
    result = inventory(narrow)
    found = files(context)
    assert {path: file.declared.get("acl_groups") for path, file in found.items() if path.startswith("hr")} == {
        "hr.zip!/a.md": ["hr"], "hr.zip!/b.md": ["hr"], "hr.zip!/c.md": ["hr"],
    }  # fmt: skip
    assert "title" not in found["hr.zip!/a.md"].declared
    assert found["hr.zip!/a.md"].declared["owner"] == "ada"
    assert found["hr.zip!/b.md"].declared["title"] == "The B"
    third = found["hr.zip!/c.md"].declared
    assert (third["region"], third["version"], third["product"]) == ("CH", "7", "people")
    assert result.counts["orphan_metadata"] == 0
    inner = found["open.zip!/d.md"]
    metadata, _ = merge_metadata(narrow.spec, inner.relative_path, inner.declared, inner.declared_by, {})
    assert (metadata.acl_groups, metadata.trust_level.value) == (("staff", "hr"), "MEDIUM")


def test_attachments_that_cannot_be_opened_leave_the_mail_a_document(
    context: StageContext, corpus_folder: Path
) -> None:
    attachments = [(f"{number}.txt", b"x") for number in range(6)]
    (corpus_folder / "m.eml").write_bytes(bytes(mail_of("Hello", attachments)))
    few = context.spec.conversion.limits.model_copy(update={"max_members": 5})
    inventory(with_conversion(context, limits=few))
    found = files(context)
    assert [(path, file.refusal) for path, file in found.items()] == [("m.eml", ""), ("m.eml!/attachments", "bomb")]


def test_a_folder_named_like_the_inside_of_an_archive_is_no_trap(context: StageContext, corpus_folder: Path) -> None:
    (corpus_folder / "a.zip").write_bytes(zip_of({"x.txt": "inside"}))
    (corpus_folder / "a.zip!").mkdir()
    (corpus_folder / "a.zip!" / "x.txt").write_text("outside")
    inventory(context)
    found = files(context)
    assert list(found) == ["a.zip", "a.zip!/x.txt"]
    assert found["a.zip"].refusal == "unsupported"
    with local_copy(context.spec, found["a.zip!/x.txt"]) as path:
        assert path.read_text() == "outside"


def test_members_have_local_copies_and_each_container_is_unpacked_once(
    context: StageContext, corpus_folder: Path, tmp_path: Path
) -> None:
    archive = corpus_folder / "a.zip"
    archive.write_bytes(zip_of({"x.txt": "X", "in.zip": zip_of({"y.md": "Y"})}))
    inventory(context)
    found = files(context)
    with MemberCopies(context.spec, tmp_path / "scratch", found.values()) as members:
        with local_copy(context.spec, found["a.zip!/x.txt"], members) as first:
            assert (first.read_text(), first.suffix) == ("X", ".txt")
            archive.unlink()
            with local_copy(context.spec, found["a.zip!/in.zip!/y.md"], members) as second:
                assert second.read_text() == "Y"
        assert not first.exists()
        assert not second.exists()
    assert not list((tmp_path / "scratch").iterdir())
    archive.write_bytes(zip_of({"x.txt": "changed"}))
    for path, what in (("a.zip!/x.txt", "other content"), ("a.zip!/in.zip!/y.md", "cannot be taken out")):
        with pytest.raises(SourceChangedError, match=what), local_copy(context.spec, found[path]):
            pytest.fail("the block must not run")


def test_archives_of_a_remote_source(context: StageContext) -> None:
    memory = fsspec.filesystem("memory")
    memory.pipe("/containers-of-tests/in/a.zip", zip_of({"x.txt": "X"}))
    try:
        remote = with_spec(context, source=SourceSpec(url="memory://containers-of-tests"))
        inventory(remote)
        found = files(context)
        assert found["in/a.zip!/x.txt"].source_uri.endswith("/containers-of-tests/in/a.zip!/x.txt")
        with local_copy(remote.spec, found["in/a.zip!/x.txt"]) as path:
            assert path.read_text() == "X"
        assert kept(inventory(remote), "containers_opened", "changed") == (0, 0)
    finally:
        memory.rm("/containers-of-tests", recursive=True)


def test_replay_opens_a_refused_archive_again(context: StageContext, corpus_folder: Path) -> None:
    (corpus_folder / "cut.tgz").write_bytes(tar_of({"a.txt": "A" * 9000})[:-60])
    inventory(context)
    assert inventory(context).counts["containers_opened"] == 0
    with context.database.connection() as connection:
        request_replay(connection, "handbook", ["handbook/cut.tgz"])
    assert inventory(context).counts["containers_opened"] == 1
