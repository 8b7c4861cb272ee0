"""A sentence-transformers model of the smallest size: real files, real code paths, no useful vectors."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from corpus_pipeline.model_files import model_folder

_TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt")


def make_tiny_model(folder: Path) -> Path:
    """Writes a one-layer transformer with random weights from a fixed seed, and the packaged model's tokenizer."""
    import torch
    from transformers import BertConfig, BertModel

    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=30522, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64
    )
    BertModel(config).eval().save_pretrained(folder)
    source = model_folder("all-MiniLM-L6-v2")
    for name in _TOKENIZER_FILES:
        if (source / name).is_file():
            shutil.copy(source / name, folder / name)
    (folder / "1_Pooling").mkdir(exist_ok=True)
    for name in ("modules.json", "sentence_bert_config.json", "1_Pooling/config.json"):
        (folder / name).write_text((source / name).read_text(encoding="utf-8"), encoding="utf-8")
    pooling = json.loads((folder / "1_Pooling/config.json").read_text(encoding="utf-8"))
    (folder / "1_Pooling/config.json").write_text(json.dumps({**pooling, "word_embedding_dimension": 32}))
    return folder
