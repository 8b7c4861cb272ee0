"""corpora.yaml: what is read, and what is said of a file that is wrong."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from corpus_pipeline.errors import RegistryError
from corpus_pipeline.registry import load_registry

BROKEN = Path(__file__).parent / "broken"


def load(folder: Path, text: str, **options: bool) -> RegistryError | None:
    (folder / "docs").mkdir(exist_ok=True)
    (folder / "corpora.yaml").write_text(text, encoding="utf-8")
    try:
        load_registry(folder / "corpora.yaml", **options)
    except RegistryError as error:
        return error
    return None


def faults(folder: Path, text: str) -> list[str]:
    error = load(folder, text)
    return [f"{fault.line} {fault.key}: {fault.message}" for fault in error.faults] if error else []


def corpus(keys: str) -> str:
    return f"version: 1\ncorpora:\n  one:\n    owner: me\n    source: {{url: docs}}\n{keys}"


def test_all_faults_of_a_file_are_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(BROKEN)
    with pytest.raises(RegistryError) as raised:
        load_registry(Path("corpora.yaml"))
    text = str(raised.value).replace(str(BROKEN), "/srv/corpora") + "\n"
    golden = BROKEN / "expected.txt"
    if os.environ.get("CORPUS_TEST_UPDATE"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


def test_defaults_are_merged_under_each_corpus(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "corpora.yaml").write_text(
        "version: 1\n"
        "defaults: {owner: us, gates: {min_documents: 3, min_ann_recall: 0.9}, access_groups: [staff]}\n"
        "corpora:\n  one: {source: {url: docs}, gates: {min_documents: 5}, access_groups: [hr]}\n"
    )
    spec = load_registry(tmp_path / "corpora.yaml").corpus("one")
    assert (spec.owner, spec.gates.min_documents, spec.gates.min_ann_recall) == ("us", 5, 0.9)
    assert spec.access_groups == ("hr",)
    assert (spec.slug, spec.base_folder) == ("one", tmp_path)


def test_variables_are_filled_in_where_they_may_stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORPUS_TEST_BUCKET", "b")
    monkeypatch.setenv("CORPUS_TEST_KEY", "k3y")
    text = (
        'version: 1\ncorpora: {one: {owner: me, source: {url: "s3://${CORPUS_TEST_BUCKET}/$${x}", '
        'options: {secret: "${CORPUS_TEST_KEY}"}}, conversion: {password: "${CORPUS_TEST_KEY}"}}}'
    )
    assert load(tmp_path, text) is None
    spec = load_registry(tmp_path / "corpora.yaml").corpus("one")
    assert spec.source.url == "s3://b/${x}"
    assert spec.source.options == {"secret": "k3y"}
    assert spec.conversion.password is not None
    assert spec.conversion.password.get_secret_value() == "k3y"
    assert "k3y" not in repr(spec)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("    owner: you\n", "6 corpora.one.owner: is written twice, first on line 4; keep one of them"),
        ("    gates: {min_documents: many}\n", "expected a whole number, found 'many'"),
        ("    description: 7\n", '6 corpora.one.description: expected text, found 7; put it in quotes: "7"'),
        ("    lifecycle: Active\n", "found 'Active'; did you mean active?"),
        ("    domain: ${TEAM}\n", "6 corpora.one.domain: ${…} is filled in only in source.url, source.options,"),
        ("    slug: two\n", "6 corpora.one.slug: unknown key;"),
        ("    chunking: small\n", "6 corpora.one.chunking: expected a map of keys, found 'small'"),
        ("    conversion: {overrides: {'[a': plain}}\n", "the glob '[a' has [ without its ]"),
        ("    documents: {'a.md': {trust_level: top}}\n", "expected one of VERIFIED, HIGH, MEDIUM, LOW, UNVERIFIED"),
        ("    schedule: {cron: '@daily'}\n", "expected five fields, found 1"),
        ("    schedule: {cron: '0 0 31 2 *'}\n", "names a day that its months do not have"),
    ],
)  # fmt: skip
def test_each_fault_says_what_to_write(tmp_path: Path, keys: str, message: str) -> None:
    (found,) = faults(tmp_path, corpus(keys))
    assert message in found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a map with version: and corpora:, found an empty file"),
        ("# only a comment\n", "found an empty file"),
        ("- a\n", "found something else"),
        ("version: 1\n", "0 corpora: expected a map from slug to corpus with at least one entry"),
        ("version: 1\ncorpora: {}\n", "2 corpora: expected a map from slug to corpus"),
        ("version: 1\ncorpora:\n\tone: 1\n", "3 (file): is not valid YAML: found character '\\t'"),
        ("version: 1\ncorpora: [\n", "is not valid YAML"),
        ("version: 1\ncorpora: &a {one: *a}\n", "an alias contains itself"),
        ("corpora: {one: {owner: a, source: {url: docs}}}\n", "0 version: expected version: 1"),
    ],
)
def test_a_file_that_is_no_registry_says_so(tmp_path: Path, text: str, message: str) -> None:
    assert any(message in fault for fault in faults(tmp_path, text))


def test_a_missing_file_points_at_init(tmp_path: Path) -> None:
    with pytest.raises(RegistryError, match="does not exist") as raised:
        load_registry(tmp_path / "corpora.yaml")
    assert "corpus-pipeline init FOLDER" in raised.value.remedy


def test_a_file_that_is_no_text_or_a_folder_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b"version: 1 # \xe9")
    with pytest.raises(RegistryError, match="not UTF-8"):
        load_registry(tmp_path / "latin")
    with pytest.raises(RegistryError, match="cannot be read"):
        load_registry(tmp_path)


def test_a_fault_in_defaults_is_told_once_and_where_it_is_written(tmp_path: Path) -> None:
    text = (
        "version: 1\ndefaults:\n  owner: me\n  gates: {min_document: 1}\n"
        "corpora:\n  one: {source: {url: docs}}\n  two: {source: {url: .}}\n"
    )
    (found,) = faults(tmp_path, text)
    assert found.startswith("4 defaults.gates.min_document: unknown key; did you mean 'min_documents'?")


def test_two_corpora_of_the_same_files_are_a_fault_unless_globs_divide_them(tmp_path: Path) -> None:
    same = "version: 1\ndefaults: {owner: me}\ncorpora:\n  a: {source: {url: docs}}\n  b: {source: {url: ./docs/}}\n"
    (found,) = faults(tmp_path, same)
    assert found.startswith("5 corpora.b.source.url: is the source of corpus 'a' too")
    assert faults(tmp_path, same.replace("./docs/", "docs, include: ['*.md']")) == []


def test_missing_folders_are_looked_for_only_on_request(tmp_path: Path) -> None:
    text = corpus("    golden_queries: none.jsonl\n").replace("docs", "nowhere")
    assert len(faults(tmp_path, text)) == 2
    assert load(tmp_path, text, check_files=False) is None


def test_secrets_never_stand_in_a_fault(tmp_path: Path) -> None:
    text = corpus("    conversion: {password: [hunter2]}\n").replace("{url: docs}", "{url: 5, options: hunter2}")
    error = load(tmp_path, text)
    assert error is not None
    assert len(error.faults) == 3
    assert "hunter2" not in str(error)


def test_aliases_that_expand_without_end_are_a_fault(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    assert any("expand too far" in fault for fault in faults(tmp_path, "\n".join(lines)))


def test_the_documentation_shows_the_real_faults_and_a_valid_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (Path(__file__).parents[3] / "docs" / "adding-a-corpus.md").read_text(encoding="utf-8")
    assert (BROKEN / "corpora.yaml").read_text(encoding="utf-8") in page
    assert (BROKEN / "expected.txt").read_text(encoding="utf-8") in page
    for name in ("S3_KEY", "S3_SECRET", "POLICIES_PASSWORD"):
        monkeypatch.setenv(name, "x")
    entry = page.split("```yaml\n", 2)[1].split("```", 1)[0]
    (tmp_path / "corpora.yaml").write_text(entry, encoding="utf-8")
    assert load_registry(tmp_path / "corpora.yaml", check_files=False).corpus("policies").domain == "billing"
