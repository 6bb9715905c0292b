"""Writes the small models of tests/score/ and the reference values beside them.

    python make_fixtures.py OUT_DIR

Needs torch, transformers, tokenizers, safetensors (versions in reference.json). Models are random with a
fixed seed: hidden 32, 2 layers, a byte-level BPE of 300 entries, stored as F16 so that they stay small; the
reference is computed in F32 from those very F16 weights, by plain `model(input_ids).logits`.
"""

import json
import pathlib
import random
import sys

import tokenizers
import torch
import transformers
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

OUT = pathlib.Path(sys.argv[1])
TEMPLATE = (pathlib.Path(__file__).parent / "template.jinja").read_text(encoding="utf-8")
WORDS = "the agent calls search with a query and answers user tool result policy refund days index context".split()
SHAPE = dict(
    vocab_size=300,
    hidden_size=32,
    intermediate_size=48,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    max_position_embeddings=512,
    bos_token_id=None,
    eos_token_id=2,
    pad_token_id=0,
)


def tokenizer():
    rng = random.Random(0)
    lines = [" ".join(rng.choices(WORDS, k=12)) for _ in range(200)]
    lines += [json.dumps({"name": rng.choice(WORDS), "arguments": {rng.choice(WORDS): 1}}) for _ in range(200)]
    tok = Tokenizer(models.BPE())
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tok.decoder = decoders.ByteLevel()
    tok.train_from_iterator(
        lines,
        trainers.BpeTrainer(
            vocab_size=300,
            special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tok, eos_token="<|im_end|>", pad_token="<|endoftext|>", chat_template=TEMPLATE
    )


def families():
    t = transformers
    yarn = dict(rope_type="yarn", rope_theta=10000.0, factor=4.0, original_max_position_embeddings=64)
    llama3 = dict(
        rope_type="llama3",
        rope_theta=10000.0,
        factor=8.0,
        low_freq_factor=1.0,
        high_freq_factor=4.0,
        original_max_position_embeddings=64,
    )
    linear = dict(rope_type="linear", rope_theta=10000.0, factor=2.0)
    phi = dict(rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.5)
    no_tie = dict(tie_word_embeddings=False)
    return {
        "llama": t.LlamaForCausalLM(t.LlamaConfig(**SHAPE, **no_tie)),
        "llama-tied-headdim": t.LlamaForCausalLM(t.LlamaConfig(**SHAPE, head_dim=12, tie_word_embeddings=True)),
        "llama-llama3": t.LlamaForCausalLM(t.LlamaConfig(**SHAPE, rope_parameters=llama3, **no_tie)),
        "llama-linear": t.LlamaForCausalLM(t.LlamaConfig(**SHAPE, rope_parameters=linear, **no_tie)),
        "qwen2": t.Qwen2ForCausalLM(t.Qwen2Config(**SHAPE, **no_tie)),
        "qwen2-yarn": t.Qwen2ForCausalLM(t.Qwen2Config(**SHAPE, rope_parameters=yarn, **no_tie)),
        "qwen2-window": t.Qwen2ForCausalLM(
            t.Qwen2Config(**SHAPE, use_sliding_window=True, sliding_window=24, max_window_layers=1, **no_tie)
        ),
        "qwen3": t.Qwen3ForCausalLM(t.Qwen3Config(**SHAPE, head_dim=16, **no_tie)),
        "mistral-window": t.MistralForCausalLM(t.MistralConfig(**SHAPE, sliding_window=24, **no_tie)),
        "smollm3": t.SmolLM3ForCausalLM(t.SmolLM3Config(**SHAPE, no_rope_layer_interval=2, **no_tie)),
        "phi3": t.Phi3ForCausalLM(t.Phi3Config(**SHAPE, rope_parameters=phi, **no_tie)),
        "gemma3": t.Gemma3ForCausalLM(
            t.Gemma3TextConfig(
                **SHAPE, head_dim=16, query_pre_attn_scalar=24, sliding_window=24, sliding_window_pattern=2
            )
        ),
    }


# Families whose tensors have the same names and shapes share a file.
WEIGHTS_OF = {
    "llama-llama3": "llama",
    "llama-linear": "llama",
    "mistral-window": "llama",
    "smollm3": "llama",
    "qwen2-yarn": "qwen2",
    "qwen2-window": "qwen2",
}


def conversations():
    tools = [
        {
            "type": "function",
            "function": {
                "name": "search",
                "description": "Look up the <policy> & its 'date'.",
                "parameters": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
            },
        }
    ]
    call = lambda args, id="c1": {  # noqa: E731
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": id, "type": "function", "function": {"name": "search", "arguments": args}}],
    }
    text = lambda role, content: {"role": role, "content": content}  # noqa: E731
    system, user = text("system", "You are an agent."), text("user", "Where is the refund policy? 退款政策在哪里？")
    result = {"role": "tool", "tool_call_id": "c1", "name": "search", "content": "policy v2, valid from 2026-01-01 — 30 days"}
    return [
        {
            "context": [system, user],
            "tools": tools,
            "actions": [call({"query": "refund policy"}), call({"query": "退款 \"政策\"", "limit": 5, "exact": True})],
        },
        {
            "context": [system, user, call({"query": "refund"}), result],
            "tools": tools,
            "actions": [text("assistant", "30 days (policy v2)."), text("assistant", "I cannot find it."), call({"query": "refund v2"}, "c2")],
        },
        {"context": [text("user", "hi")], "tools": [], "actions": [text("assistant", "hello 😀 there"), text("assistant", "error")]},
    ]


def reference(model, tok, request):
    """Prompt length as TRL's DPO takes it, and every log-prob, entropy and rank after it."""
    ids = lambda m, **k: tok.apply_chat_template(m, tools=request["tools"] or None, tokenize=True, return_dict=False, **k)  # noqa: E731
    head = ids(request["context"], add_generation_prompt=True)
    fulls = [ids(request["context"] + [a]) for a in request["actions"]]
    common = lambda full: next((i for i, (x, y) in enumerate(zip(head, full)) if x != y), min(len(head), len(full)))  # noqa: E731
    first = min(common(full) for full in fulls)
    out = []
    for full in fulls:
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([full])).logits[0, first - 1 : -1].float()
        lp = torch.log_softmax(logits, -1)
        target = torch.tensor(full[first:])
        own = lp.gather(-1, target[:, None])[:, 0]
        out.append(
            {
                "prompt_tokens": first,
                "ids": full[first:],
                "logps": [round(v, 7) for v in own.tolist()],
                "entropies": [round(v, 6) for v in (-(lp.exp() * lp).sum(-1)).tolist()],
                "ranks": (lp > own[:, None]).sum(-1).tolist(),
            }
        )
    return out


def fill(model, name, seed):
    torch.manual_seed(seed)
    with torch.no_grad():
        for key, w in model.named_parameters():
            w.normal_(0, 0.15)
            if "norm" in key and "gemma" not in name:
                w.add_(1.0)
            w.copy_(w.half().float())  # the stored F16 values are the model


def main():
    tok = tokenizer()
    requests = conversations()
    report = {
        "made_by": "tests/score/make_fixtures.py",
        "versions": {m.__name__: m.__version__ for m in (torch, transformers, tokenizers)},
        "requests": requests,
        "models": {},
    }
    shared = OUT / "tokenizer"
    tok.save_pretrained(shared)
    states = {}
    for number, (name, model) in enumerate(families().items()):
        folder = OUT / name
        folder.mkdir(parents=True, exist_ok=True)
        model.config.save_pretrained(folder)
        if name in WEIGHTS_OF:
            model.load_state_dict(states[WEIGHTS_OF[name]])
        else:
            fill(model, name, number)
            tied = model.config.tie_word_embeddings
            state = {k: v.half().contiguous() for k, v in model.state_dict().items()}
            if tied:
                state.pop("lm_head.weight")
            save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
            states[name] = model.state_dict()
        model.eval()
        report["models"][name] = {
            "weights": WEIGHTS_OF.get(name, name),
            "results": [reference(model, tok, r) for r in requests],
        }
    (OUT / "reference.json").write_text(json.dumps(report, ensure_ascii=False, indent=0), encoding="utf-8")


main()
