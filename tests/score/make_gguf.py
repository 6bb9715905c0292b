"""Turns some of the small models into GGUF files, as llama.cpp's converter does, with reference values.

    python make_gguf.py MODELS_DIR        # after make_fixtures.py; writes MODELS_DIR/gguf

Reference for quantised files: transformers reads the GGUF itself (`gguf_file=`) and computes in F32. The
Llama 3 file carries `rope_freqs` as llama.cpp's converter computes it, which transformers ignores; its
reference is the folder llama-llama3. The SentencePiece file only tests the tokenizer: its vocabulary is a
trained BPE whose merge ranks became scores, and its reference are the ids of that BPE.
"""

import json
import math
import pathlib
import sys

import gguf
import numpy as np
import torch
from gguf import GGMLQuantizationType as Q
from safetensors.torch import load_file
from tokenizers import Tokenizer, decoders, models, normalizers, trainers
from transformers import AutoModelForCausalLM, AutoTokenizer

MODELS = pathlib.Path(sys.argv[1])
OUT = MODELS / "gguf"
NAMES = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}


def name_of(key):
    if key == "model.embed_tokens.weight":
        return "token_embd.weight"
    if key == "model.norm.weight":
        return "output_norm.weight"
    if key == "lm_head.weight":
        return "output.weight"
    _, _, layer, rest = key.split(".", 3)
    part, kind = rest.rsplit(".", 1)
    return f"blk.{layer}.{NAMES[part]}.{kind}"


def permute(w, heads):  # convert_hf_to_gguf.py, LlamaModel.permute
    return w.reshape(heads, 2, w.shape[0] // heads // 2, *w.shape[1:]).swapaxes(1, 2).reshape(w.shape)


def rope_freqs(config):  # convert_hf_to_gguf.py, LlamaModel.generate_extra_tensors
    rope, dim = config["rope_parameters"], config["hidden_size"] // config["num_attention_heads"]
    freqs = 1.0 / (rope["rope_theta"] ** (torch.arange(0, dim, 2, dtype=torch.float32) / dim))
    factor, low, high = rope["factor"], rope["low_freq_factor"], rope["high_freq_factor"]
    old = rope["original_max_position_embeddings"]
    out = []
    for freq in freqs:
        wave = 2 * math.pi / freq
        if wave < old / high:
            out.append(1)
        elif wave > old / low:
            out.append(factor)
        else:
            smooth = (old / wave - low) / (high - low)
            out.append(1 / ((1 - smooth) / factor + smooth))
    return np.array(out, dtype=np.float32)


def write(name, arch, folder, weights, kind):
    config = json.loads((MODELS / folder / "config.json").read_text())
    tok = json.loads((MODELS / "tokenizer" / "tokenizer.json").read_text())
    path = OUT / f"{name}.gguf"
    w = gguf.GGUFWriter(path, arch)
    w.add_block_count(config["num_hidden_layers"])
    w.add_context_length(config["max_position_embeddings"])
    w.add_embedding_length(config["hidden_size"])
    w.add_feed_forward_length(config["intermediate_size"])
    w.add_head_count(config["num_attention_heads"])
    w.add_head_count_kv(config["num_key_value_heads"])
    w.add_layer_norm_rms_eps(config["rms_norm_eps"])
    w.add_rope_freq_base(config["rope_parameters"]["rope_theta"])
    vocab = sorted(tok["model"]["vocab"].items(), key=lambda x: x[1])
    special = {t["content"] for t in tok["added_tokens"] if t["special"]}
    w.add_tokenizer_model("gpt2")
    w.add_tokenizer_pre("default")
    w.add_token_list([t for t, _ in vocab])
    w.add_token_types([3 if t in special else 1 for t, _ in vocab])
    w.add_token_merges([" ".join(m) if isinstance(m, list) else m for m in tok["model"]["merges"]])
    w.add_eos_token_id(2)
    w.add_pad_token_id(0)
    w.add_chat_template((MODELS / "tokenizer" / "chat_template.jinja").read_text())
    for key, tensor in load_file(MODELS / weights / "model.safetensors").items():
        data = tensor.float().numpy()
        if arch == "llama" and "q_proj" in key:
            data = permute(data, config["num_attention_heads"])
        if arch == "llama" and "k_proj" in key:
            data = permute(data, config["num_key_value_heads"])
        of_kind = Q.F32 if data.ndim == 1 else Q.F16 if data.shape[1] % 32 else kind
        w.add_tensor(name_of(key), gguf.quantize(np.ascontiguousarray(data), of_kind), raw_dtype=of_kind)
    if config["rope_parameters"]["rope_type"] == "llama3":
        w.add_tensor("rope_freqs.weight", rope_freqs(config))
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()
    return path


def reference(path, requests):
    kw = {"gguf_file": path.name}
    tok = AutoTokenizer.from_pretrained(path.parent, **kw)
    model = AutoModelForCausalLM.from_pretrained(path.parent, dtype="float32", **kw).eval()
    out = []
    for r in requests:
        ids = lambda m, **k: tok.apply_chat_template(m, tools=r["tools"] or None, tokenize=True, return_dict=False, **k)  # noqa: E731
        first = len(ids(r["context"], add_generation_prompt=True))
        rows = []
        for action in r["actions"]:
            full = ids(r["context"] + [action])
            with torch.no_grad():
                lp = torch.log_softmax(model(input_ids=torch.tensor([full])).logits[0, first - 1 : -1].float(), -1)
            own = lp.gather(-1, torch.tensor(full[first:])[:, None])[:, 0]
            rows.append({"prompt_tokens": first, "ids": full[first:], "logps": [round(v, 7) for v in own.tolist()]})
        out.append(rows)
    return out


TEXTS = ["the agent calls search", " two  spaces", "policy日本 refund", "<turn>days<end>", "a\nb\tc", "", "😀 é", "refundrefund policy's"]


def sentence_piece():
    lines = ["the agent calls search with a policy refund days index context"] * 50 + ["refund days policy agent"] * 50
    tok = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    tok.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tok.decoder = decoders.ByteFallback()
    special = ["<pad>", "<turn>", "<end>", "<unk>"] + [f"<0x{i:02X}>" for i in range(256)]
    tok.train_from_iterator(lines, trainers.BpeTrainer(vocab_size=340, special_tokens=special, show_progress=False))
    state = json.loads(tok.to_str())
    state["added_tokens"] = [t for t in state["added_tokens"] if t["content"] in ("<pad>", "<turn>", "<end>")]
    tok = Tokenizer.from_str(json.dumps(state))
    vocab = sorted(state["model"]["vocab"].items(), key=lambda x: x[1])
    rank = {"".join(m): i for i, m in enumerate(state["model"]["merges"])}
    kind = lambda t: 3 if t in ("<pad>", "<turn>", "<end>") else 2 if t == "<unk>" else 6 if t.startswith("<0x") else 1  # noqa: E731
    w = gguf.GGUFWriter(OUT / "sentencepiece.gguf", "llama")
    for add in (w.add_block_count, w.add_context_length, w.add_embedding_length, w.add_feed_forward_length, w.add_head_count):
        add(2)
    w.add_tokenizer_model("llama")
    w.add_token_list([t for t, _ in vocab])
    w.add_token_types([kind(t) for t, _ in vocab])
    w.add_token_scores([float(-rank.get(t, 0)) for t, _ in vocab])
    w.add_eos_token_id(2)
    w.add_chat_template("{{ messages[0].content }}")
    w.add_tensor("token_embd.weight", np.zeros((len(vocab), 2), dtype=np.float32))
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()
    return [{"text": t, "ids": tok.encode(t, add_special_tokens=False).ids} for t in TEXTS]


def main():
    OUT.mkdir(exist_ok=True)
    known = json.loads((MODELS / "reference.json").read_text())
    requests = known["requests"]
    report = {"made_by": "tests/score/make_gguf.py", "models": {}}
    write("llama3-f16", "llama", "llama-llama3", "llama", Q.F16)
    report["models"]["llama-q8_0"] = reference(write("llama-q8_0", "llama", "llama", "llama", Q.Q8_0), requests)
    report["models"]["qwen2-q4_1"] = reference(write("qwen2-q4_1", "qwen2", "qwen2", "qwen2", Q.Q4_1), requests)
    report["sentencepiece"] = sentence_piece()
    (OUT / "reference.json").write_text(json.dumps(report, ensure_ascii=False, indent=0), encoding="utf-8")


main()
