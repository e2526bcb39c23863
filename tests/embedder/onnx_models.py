"""Makes a tiny model in the form in which FastEmbed expects all-MiniLM-L6-v2: real files, for the real runtime.

It has one direction for each of a few hundred words, and a text gets the mean of those of its words.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing

#: The name under which FastEmbed takes the model, and the length of its vectors.
NAME = "sentence-transformers/all-MiniLM-L6-v2"
DIMENSION = 384
#: How many tokens it reads, those around the text included.
LIMIT = 40

_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
_WORDS = tuple(
    re.findall(
        r"\S+",
        "the a of in and to by who where when what turns turn mill tide ebb miller bread flour garden roses pruned"
        " winter harbour ships lighthouse lamp keeper lit oil . ?",
    )
)


def make_model(folder: Path) -> Path:
    """Write the files of the model into a folder, and return that."""
    folder.mkdir(parents=True, exist_ok=True)
    _tokenizer().save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": LIMIT, "pad_token": "[PAD]"}))
    (folder / "config.json").write_text(json.dumps({"pad_token_id": 0}))
    onnx.save(_model(), str(folder / "model.onnx"))
    return folder


def _tokenizer() -> Tokenizer:
    vocabulary = {word: number for number, word in enumerate((*_SPECIAL, *_WORDS))}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = Lowercase()
    tokenizer.pre_tokenizer = BertPreTokenizer()
    around = [(name, vocabulary[name]) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=around)
    return tokenizer


def _model() -> onnx.ModelProto:
    table = np.random.default_rng(1).normal(size=(len(_SPECIAL) + len(_WORDS), DIMENSION)).astype(np.float32)
    table[: len(_SPECIAL)] *= 0.01
    shape = ["batch", "tokens"]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in ("input_ids", "attention_mask")]
    output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [*shape, DIMENSION])
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])]
    graph = helper.make_graph(nodes, "words", inputs, [output], [numpy_helper.from_array(table, "table")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
