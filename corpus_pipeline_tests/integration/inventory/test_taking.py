"""The inventory stage on real folders and a real database."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import fsspec
import pytest

from corpus_pipeline.errors import RegistryError, SourceUnavailableError
from corpus_pipeline.inventory import (
    approve_removals,
    held_removals,
    local_copy,
    source_changes,
    source_files,
    take_inventory,
)
from corpus_pipeline.inventory import taking as stage
from corpus_pipeline.records import SourceFile, sha256_hex
from corpus_pipeline.registry import SourceSpec
from corpus_pipeline.store import Database, StageContext


def write(folder: Path, name: str, text: str = "text\n") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def files(context: StageContext) -> dict[str, SourceFile]:
    with context.database.connection() as connection:
        return {file.relative_path: file for file in source_files(connection, context.spec.slug)}


def changes(context: StageContext) -> list[tuple[str, str]]:
    with context.database.connection() as connection:
        return [(row["change"], row["document_id"]) for row in source_changes(connection, context.spec.slug)]


def with_spec(context: StageContext, **update: Any) -> StageContext:
    return replace(context, spec=context.spec.model_copy(update=update))


def settle() -> None:
    time.sleep(0.08)  # longer than a tick of the file system's clock


def test_every_visible_file_is_recorded_with_hash_size_and_extension(
    context: StageContext, corpus_folder: Path
) -> None:
    write(corpus_folder, "refunds.md", "Refunds\n")
    write(corpus_folder, "deep/er/Guide.PDF", "not really")
    write(corpus_folder, ".hidden/x.md")
    write(corpus_folder, ".corpus/y.md")
    write(corpus_folder, "a/.secret")
    result = take_inventory(context)
    found = files(context)
    assert list(found) == ["deep/er/Guide.PDF", "refunds.md"]
    refunds = found["refunds.md"]
    assert refunds.document_id == "handbook/refunds.md"
    assert (refunds.sha256, refunds.size_bytes) == (sha256_hex("Refunds\n"), 8)
    assert refunds.source_uri == str(corpus_folder / "refunds.md")
    assert refunds.modified_at is not None
    assert found["deep/er/Guide.PDF"].extension == "pdf"
    assert result.counts["files"] == result.counts["added"] == 2


def test_a_second_run_reads_nothing_and_is_unchanged(context: StageContext, corpus_folder: Path) -> None:
    write(corpus_folder, "a.md")
    write(corpus_folder, "b.md")
    write(corpus_folder, "b.md.meta.yaml", "title: B\n")
    settle()
    first = take_inventory(context)
    second = take_inventory(context)
    assert (first.counts["files_read"], second.counts["files_read"]) == (3, 0)
    assert (first.unchanged, second.unchanged) == (False, True)
    assert first.output_sha256 == second.output_sha256
    assert second.counts["added"] == second.counts["changed"] == second.counts["removed"] == 0
    assert files(context)["b.md"].declared == {"title": "B"}
    assert len(changes(context)) == 2


def test_changed_removed_added_and_renamed_files_are_recorded(context: StageContext, corpus_folder: Path) -> None:
    for number in range(10):
        write(corpus_folder, f"{number}.md", f"text {number}\n")
    first = take_inventory(context)
    write(corpus_folder, "0.md", "other text\n")
    (corpus_folder / "1.md").unlink()
    (corpus_folder / "2.md").rename(corpus_folder / "two.md")
    second = take_inventory(context)
    assert second.output_sha256 != first.output_sha256
    assert {key: second.counts[key] for key in ("added", "changed", "removed", "renamed")} == {
        "added": 1, "changed": 1, "removed": 2, "renamed": 1,
    }  # fmt: skip
    with context.database.connection() as connection:
        newest = {row["document_id"]: row for row in source_changes(connection, "handbook", most=4)}
    assert newest["handbook/two.md"]["renamed_from"] == "handbook/2.md"
    assert newest["handbook/0.md"]["previous_sha256"] == sha256_hex("text 0\n")
    assert newest["handbook/1.md"]["change"] == "removed"
    write(corpus_folder, "1.md", "text 1\n")
    assert take_inventory(context).counts["restored"] == 1


def test_a_file_with_equal_size_and_restored_time_is_read_again(context: StageContext, corpus_folder: Path) -> None:
    path = write(corpus_folder, "a.md", "old\n")
    os.utime(path, ns=(10**18, 10**18))
    settle()
    take_inventory(context)
    path.write_text("new\n")
    os.utime(path, ns=(10**18, 10**18))
    assert take_inventory(context).counts["changed"] == 1
    assert files(context)["a.md"].sha256 == sha256_hex("new\n")


def test_a_failure_while_committing_leaves_the_old_rows_and_the_next_run_converges(
    context: StageContext, corpus_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(corpus_folder, "a.md", "old\n")
    write(corpus_folder, "b.md")
    take_inventory(context)
    write(corpus_folder, "a.md", "new\n")
    write(corpus_folder, "c.md")

    original: Callable[..., None] = stage.repository.write_inventory

    def dies(*arguments: Any, **named: Any) -> None:
        original(*arguments, **named)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(stage.repository, "write_inventory", dies)
        with pytest.raises(KeyboardInterrupt):
            take_inventory(context)
    assert files(context)["a.md"].sha256 == sha256_hex("old\n")
    assert "c.md" not in files(context)
    assert len(changes(context)) == 2
    interrupted = take_inventory(context)
    assert files(context)["a.md"].sha256 == sha256_hex("new\n")
    with context.database.connection() as connection:
        connection.execute("TRUNCATE corpus.source_files, corpus.source_readings, corpus.stage_states")
    assert take_inventory(context).output_sha256 == interrupted.output_sha256


def test_a_listing_that_comes_back_empty_removes_nothing_until_approved(
    context: StageContext, corpus_folder: Path
) -> None:
    for name in ("a.md", "b.md", "c.md", "d.md"):
        write(corpus_folder, name)
    before = take_inventory(context)
    for path in corpus_folder.iterdir():
        path.unlink()
    short = take_inventory(context)
    assert (short.counts["files"], short.counts["held_removals"], short.counts["removed"]) == (4, 4, 0)
    assert short.unchanged
    assert short.output_sha256 == before.output_sha256
    write(corpus_folder, "a.md")
    assert take_inventory(context).counts["restored"] == 1
    with context.database.connection() as connection:
        assert held_removals(connection, "handbook") == ["handbook/b.md", "handbook/c.md", "handbook/d.md"]
        assert approve_removals(connection, "handbook", "ann@example.com") == 3
        assert held_removals(connection, "handbook") == []
    approved = take_inventory(context)
    assert (approved.counts["removed"], approved.counts["held_removals"]) == (3, 0)
    assert list(files(context)) == ["a.md"]
    with context.database.connection() as connection:
        assert {row["approved_by"] for row in source_changes(connection, "handbook", most=3)} == {"ann@example.com"}
        assert connection.execute("SELECT count(*) AS holds FROM corpus.removal_holds").fetchone() == {"holds": 0}


def test_an_approval_does_not_cover_files_that_vanish_later(context: StageContext, corpus_folder: Path) -> None:
    for number in range(10):
        write(corpus_folder, f"{number}.md")
    take_inventory(context)
    for number in range(5):
        (corpus_folder / f"{number}.md").unlink()
    take_inventory(context)
    with context.database.connection() as connection:
        approve_removals(connection, "handbook", "ann")
    for number in range(5, 10):
        (corpus_folder / f"{number}.md").unlink()
    result = take_inventory(context)
    assert (result.counts["removed"], result.counts["held_removals"]) == (5, 5)


def test_a_few_missing_files_are_removed_with_a_record(context: StageContext, corpus_folder: Path) -> None:
    for number in range(10):
        write(corpus_folder, f"{number}.md")
    take_inventory(context)
    (corpus_folder / "3.md").unlink()
    assert take_inventory(context).counts["removed"] == 1
    assert ("removed", "handbook/3.md") in changes(context)


def test_a_source_that_is_gone_changes_nothing(context: StageContext, corpus_folder: Path) -> None:
    write(corpus_folder, "a.md")
    take_inventory(context)
    corpus_folder.rename(corpus_folder.with_name("elsewhere"))
    with pytest.raises(SourceUnavailableError, match="does not exist") as raised:
        take_inventory(context)
    assert "Nothing was removed" in raised.value.remedy
    assert list(files(context)) == ["a.md"]


def test_hostile_file_names_are_stored_and_opened_as_they_are(context: StageContext, corpus_folder: Path) -> None:
    names = [
        "a\nb.md",
        "'; DROP TABLE corpus.source_files; --.md",
        "tab\there.md",
        "x\\.md",
        "ünï☃.md",
        "%s {0}.md",
        "\x1b[31m.md",
    ]
    for name in names:
        write(corpus_folder, name, name)
    foreign = os.fsencode(str(corpus_folder)) + b"/r\xe9sum\xe9.md"
    Path(os.fsdecode(foreign)).write_text("foreign")
    write(corpus_folder, "r%E9sum%E9.md", "its double")
    take_inventory(context)
    found = files(context)
    assert sorted(found) == sorted([*names, "r%E9sum%E9.md", "r%E9sum%E9.md%"])
    for file in found.values():
        with local_copy(context.spec, file) as path:
            assert sha256_hex(path.read_bytes()) == file.sha256
    assert {found["r%E9sum%E9.md"].sha256, found["r%E9sum%E9.md%"].sha256} == {
        sha256_hex("foreign"), sha256_hex("its double"),
    }  # fmt: skip
    assert take_inventory(context).unchanged


def test_files_that_cannot_be_read_are_kept_with_their_doubt(
    context: StageContext, corpus_folder: Path, tmp_path: Path
) -> None:
    outside = write(tmp_path, "outside/secret.md", "secret")
    write(corpus_folder, "real.md", "real")
    (corpus_folder / "dangling.md").symlink_to(corpus_folder / "nowhere.md")
    (corpus_folder / "leaving.md").symlink_to(outside)
    (corpus_folder / "folder").symlink_to(outside.parent, target_is_directory=True)
    (corpus_folder / "inside.md").symlink_to("real.md")
    (corpus_folder / "loop").symlink_to(corpus_folder, target_is_directory=True)
    os.mkfifo(corpus_folder / "pipe.md")
    result = take_inventory(context)
    found = files(context)
    assert sorted(found) == ["dangling.md", "folder", "inside.md", "leaving.md", "pipe.md", "real.md"]
    assert "does not exist" in found["dangling.md"].doubt
    assert "outside the source folder" in found["leaving.md"].doubt
    assert "outside the source folder" in found["folder"].doubt
    assert "no regular file" in found["pipe.md"].doubt
    assert found["inside.md"].sha256 == found["real.md"].sha256 == sha256_hex("real")
    assert all(not found[name].sha256 for name in ("dangling.md", "leaving.md", "folder", "pipe.md"))
    assert result.counts["unreadable"] == 4


def test_a_file_that_vanishes_between_listing_and_reading_is_a_doubt(
    context: StageContext, corpus_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(corpus_folder, "a.md")
    write(corpus_folder, "b.md")
    original = stage.read_document

    def vanishing(file: Any) -> Any:
        (corpus_folder / "b.md").unlink(missing_ok=True)
        return original(file)

    monkeypatch.setattr(stage, "read_document", vanishing)
    take_inventory(context)
    found = files(context)
    assert found["b.md"].sha256 == ""
    assert found["b.md"].doubt == "cannot be read: No such file or directory"


def test_sidecar_beats_manifest_beats_front_matter_and_the_registry_beats_all(
    context: StageContext, corpus_folder: Path
) -> None:
    write(corpus_folder, "p/a.md", "---\ntitle: F\nproduct: F\nversion: 1.10\nregion: F\nteam: core\n---\nBody\n")
    write(corpus_folder, "index.csv", "path,product,region,valid_from,groups\np/a.md,M,M,2025-01-01,hr; finance\n")
    write(corpus_folder, "p/a.md.meta.yaml", "region: S\nexpires: 2026-01-01\nowner: S\n")
    context = with_spec(
        context,
        source=SourceSpec(url="docs", manifest="index.csv"),
        documents={"p/*.md": {"owner": "glob", "domain": "glob"}, "p/a.md": {"owner": "exact"}},
    )
    take_inventory(context)
    (file,) = files(context).values()
    assert file.declared == {
        "title": "F", "version": "1.10", "product": "M", "region": "S", "valid_from": "2025-01-01",
        "valid_until": "2026-01-01", "acl_groups": ["hr", "finance"], "owner": "exact", "domain": "glob",
        "attributes": {"team": "core"},
    }  # fmt: skip
    assert file.declared_by == {
        "title": "front matter", "version": "front matter", "product": "manifest", "region": "sidecar",
        "valid_from": "manifest", "valid_until": "sidecar", "acl_groups": "manifest", "owner": "registry",
        "domain": "registry", "attributes.team": "front matter",
    }  # fmt: skip
    assert file.doubt == ""


def test_faults_in_metadata_are_doubts_that_name_file_line_and_key(context: StageContext, corpus_folder: Path) -> None:
    write(corpus_folder, "a.md", "---\ntitle: A\nvalid_from: soon\n---\n")
    write(corpus_folder, "a.md.meta.yaml", "product: x\nregon: EU\n")
    take_inventory(context)
    (file,) = files(context).values()
    assert "a.md:3 valid_from: expected a date such as 2024-01-31" in file.doubt
    assert "a.md.meta.yaml:2 regon: unknown key; did you mean 'region'?" in file.doubt
    assert file.declared == {"title": "A", "product": "x"}
    assert file.sha256


@pytest.mark.parametrize(
    "sidecar", ["acl_group: [hr]\n", "acl_groups: {hr: yes}\n", "groups: [hr\n", "product: x\n groups: [hr]\n"]
)
def test_a_sidecar_whose_access_cannot_be_read_closes_its_document(
    context: StageContext, corpus_folder: Path, sidecar: str
) -> None:
    write(corpus_folder, "a.md")
    write(corpus_folder, "a.md.meta.yaml", sidecar)
    take_inventory(context)
    (file,) = files(context).values()
    assert file.declared["acl_groups"] == []
    assert file.doubt


def test_a_dangling_sidecar_closes_its_document(context: StageContext, corpus_folder: Path) -> None:
    write(corpus_folder, "a.md")
    (corpus_folder / "a.md.meta.yaml").symlink_to("gone.yaml")
    take_inventory(context)
    assert files(context)["a.md"].declared["acl_groups"] == []


def test_metadata_that_the_database_cannot_store_is_made_storable(context: StageContext, corpus_folder: Path) -> None:
    write(corpus_folder, "a.md", '---\ntitle: "a\\0b\\ud800"\n"k\\0": .nan\nbig: 1' + "0" * 5000 + "\n---\n")
    take_inventory(context)
    declared = files(context)["a.md"].declared
    assert declared["title"] == "a\ufffdb\ufffd"
    assert declared["attributes"]["k\ufffd"] == "nan"


def test_a_missing_or_broken_manifest_stops_the_corpus_and_changes_nothing(
    context: StageContext, corpus_folder: Path
) -> None:
    write(corpus_folder, "a.md")
    context = with_spec(context, source=SourceSpec(url="docs", manifest="index.jsonl"))
    with pytest.raises(SourceUnavailableError, match=r"index\.jsonl"):
        take_inventory(context)
    write(corpus_folder, "index.jsonl", '{"path": "a.md"}\n{broken\n')
    with pytest.raises(RegistryError, match=r"index\.jsonl:2 \(row\): is not valid JSON"):
        take_inventory(context)
    assert files(context) == {}


def test_globs_leave_files_out_and_the_registry_file_is_no_document(
    context: StageContext, corpus_folder: Path, tmp_path: Path
) -> None:
    write(corpus_folder, "a.md")
    write(corpus_folder, "b.txt")
    write(corpus_folder, "drafts/c.md")
    write(tmp_path, "corpora.yaml", "version: 1\n")
    context = with_spec(context, source=SourceSpec(url=".", include=("*.md", "*.yaml"), exclude=("docs/drafts/",)))
    result = take_inventory(context)
    assert list(files(context)) == ["docs/a.md"]
    assert result.counts["excluded"] == 2


def test_metadata_defaults_of_the_corpus_enter_the_output(context: StageContext, corpus_folder: Path) -> None:
    write(corpus_folder, "a.md")
    outputs = {
        take_inventory(context).output_sha256,
        take_inventory(with_spec(context, owner="someone else")).output_sha256,
        take_inventory(with_spec(context, access_groups=("hr",))).output_sha256,
        take_inventory(with_spec(context, documents={"a.md": {"title": "A"}})).output_sha256,
    }
    assert len(outputs) == 4
    assert take_inventory(replace(context, run_id="another")).output_sha256 in outputs


def test_any_fsspec_url_is_a_source(database: Database, context: StageContext) -> None:
    memory = fsspec.filesystem("memory")
    root = f"/{context.settings.state_folder.parent.name}"
    memory.pipe(
        {f"{root}/a.md": b"---\ntitle: A\n---\n", f"{root}/x/b.TXT": b"bee", f"{root}/x/b.TXT.meta.yaml": b"title: B\n"}
    )
    context = with_spec(context, source=SourceSpec(url=f"memory:/{root}"))
    first = take_inventory(context)
    found = files(context)
    assert {path: file.declared for path, file in found.items()} == {"a.md": {"title": "A"}, "x/b.TXT": {"title": "B"}}
    assert found["a.md"].source_uri == f"memory://{root}/a.md"
    with local_copy(context.spec, found["x/b.TXT"]) as path:
        assert (path.read_bytes(), path.suffix) == (b"bee", ".txt")
        copied = path
    assert not copied.exists()
    assert take_inventory(context).output_sha256 == first.output_sha256
    memory.rm(root, recursive=True)
    with pytest.raises(SourceUnavailableError, match="does not exist"):
        take_inventory(context)


def test_an_unknown_protocol_is_named_without_login(context: StageContext) -> None:
    context = with_spec(context, source=SourceSpec(url="nosuch://me:secret@host/x"))
    with pytest.raises(SourceUnavailableError) as raised:
        take_inventory(context)
    assert "nosuch://host/x" in str(raised.value)
    assert "secret" not in str(raised.value)
