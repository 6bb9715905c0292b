#!/usr/bin/env python3
"""Trains the embedded proxy (assets/proxy/) on the synthetic tasks of proxy_tasks.py, on a CPU, from a fixed seed.

    python3 scripts/train_proxy.py tokenizer                    # tokenizer.json and its config
    python3 scripts/train_proxy.py train --heads 3 --tokens 2.7e6 --decay 0.34   # checkpoints in --work, resumes by itself
    python3 scripts/train_proxy.py widen                        # a fourth head, whose output starts at zero
    python3 scripts/train_proxy.py train --later --tokens 4e6 --decay 0.93       # goes on, with more choosing of tools
    python3 scripts/train_proxy.py evaluate                     # held-out gains and placebo effects
    python3 scripts/train_proxy.py export                       # config.json, model.safetensors (F16)
    python3 scripts/train_proxy.py overlap                      # no wording shared with sample logs or fault suite

Needs torch, transformers (evaluate, export) and tokenizers; nothing at run time of triagent needs it.
"""

import argparse
import itertools
import json
import math
import random
import statistics
import time
from pathlib import Path

import proxy_tasks as P
import proxy_words as W

ROOT = Path(__file__).resolve().parent.parent
ASSETS = ROOT / "assets" / "proxy"
SEED = 20250701
SHAPE = dict(vocab_size=3072, hidden_size=160, intermediate_size=384, num_hidden_layers=4, num_attention_heads=4,
             num_key_value_heads=4, head_dim=64, max_position_embeddings=1024, rms_norm_eps=1e-6, rope_theta=10000.0)
SPECIAL = ["<|pad|>", P.TURN, P.END, P.CALL, P.CALL_END, "<think>", "</think>"]
BATCH_TOKENS = 3072
EASY_BATCHES = 12  # the first 8 x 12 batches are mostly plain copying and reading
OTHER_SHARE = 0.12  # share of the tokens outside actions that are also learnt, so that the text itself becomes familiar


# --- tokenizer ----------------------------------------------------------------------------------------------------------

def tokenizer_corpus():
    rng, forms = random.Random(SEED), P.Forms()
    for _ in range(60000):
        yield "".join(t for t, _ in P.segments(P.sample(rng, forms)))
    for _ in range(12000):
        yield " ".join(rng.choice(W.EVERYDAY) for _ in range(24))
    for _ in range(12000):
        yield ",".join("".join(rng.choice(W.ZH_CHARS) for _ in range(3)) for _ in range(8))


def make_tokenizer(_args):
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    tok = Tokenizer(models.BPE())
    tok.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True),
                                                 pre_tokenizers.ByteLevel(add_prefix_space=False)])
    tok.decoder = decoders.ByteLevel()
    tok.train_from_iterator(tokenizer_corpus(), trainers.BpeTrainer(
        vocab_size=SHAPE["vocab_size"], special_tokens=SPECIAL, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    ASSETS.mkdir(parents=True, exist_ok=True)
    tok.save(str(ASSETS / "tokenizer.json"))
    (ASSETS / "tokenizer_config.json").write_text(json.dumps({
        "tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": SHAPE["max_position_embeddings"],
        "eos_token": P.END, "pad_token": "<|pad|>", "add_bos_token": False, "add_eos_token": False,
        "clean_up_tokenization_spaces": False}, indent=2) + "\n")
    print("vocabulary", tok.get_vocab_size())


def load_tokenizer():
    from tokenizers import Tokenizer
    return Tokenizer.from_file(str(ASSETS / "tokenizer.json"))


def encode(tok, conversation):
    """Token ids and, for each, whether it belongs to an action. Segments meet at special tokens, so joining is exact."""
    ids, action = [], []
    for enc, (_, is_action) in zip(tok.encode_batch([t for t, _ in P.segments(conversation)]), P.segments(conversation)):
        ids += enc.ids
        action += [is_action] * len(enc.ids)
    return ids, action


# --- model ----------------------------------------------------------------------------------------------------------------

def build_model():
    """A plain Llama, written out because it trains about a fifth faster on a CPU than the library's."""
    import torch
    from torch import nn
    import torch.nn.functional as F
    d, hd = SHAPE["hidden_size"], SHAPE["head_dim"]
    heads, kv = SHAPE["num_attention_heads"], SHAPE["num_key_value_heads"]

    class Norm(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(d))

        def forward(self, x):
            return F.rms_norm(x, (d,), self.weight, SHAPE["rms_norm_eps"])

    def rotate(x, cos, sin):
        a, b = x.chunk(2, -1)
        return x * cos + torch.cat((-b, a), -1) * sin

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            def linear(i, o):
                return nn.Linear(i, o, bias=False)
            self.self_attn = nn.ModuleDict({"q_proj": linear(d, heads * hd), "k_proj": linear(d, kv * hd),
                                            "v_proj": linear(d, kv * hd), "o_proj": linear(heads * hd, d)})
            f = SHAPE["intermediate_size"]
            self.mlp = nn.ModuleDict({"gate_proj": linear(d, f), "up_proj": linear(d, f), "down_proj": linear(f, d)})
            self.input_layernorm, self.post_attention_layernorm = Norm(), Norm()

        def forward(self, x, cos, sin):
            b, t, _ = x.shape
            h, a = self.input_layernorm(x), self.self_attn
            q = rotate(a["q_proj"](h).view(b, t, heads, hd).transpose(1, 2), cos, sin)
            k = rotate(a["k_proj"](h).view(b, t, kv, hd).transpose(1, 2), cos, sin).repeat_interleave(heads // kv, 1)
            v = a["v_proj"](h).view(b, t, kv, hd).transpose(1, 2).repeat_interleave(heads // kv, 1)
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, heads * hd)
            x = x + a["o_proj"](y)
            h, m = self.post_attention_layernorm(x), self.mlp
            return x + m["down_proj"](F.silu(m["gate_proj"](h)) * m["up_proj"](h))

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed_tokens = nn.Embedding(SHAPE["vocab_size"], d)
            self.layers = nn.ModuleList(Layer() for _ in range(SHAPE["num_hidden_layers"]))
            self.norm = Norm()
            inv = 1.0 / SHAPE["rope_theta"] ** (torch.arange(0, hd, 2).float() / hd)
            angles = torch.outer(torch.arange(SHAPE["max_position_embeddings"]).float(), inv)
            angles = torch.cat((angles, angles), -1)
            self.register_buffer("cos", angles.cos(), persistent=False)
            self.register_buffer("sin", angles.sin(), persistent=False)
        def forward(self, ids):
            x, t = self.embed_tokens(ids), ids.shape[1]
            for layer in self.layers:
                x = layer(x, self.cos[:t], self.sin[:t])
            return self.norm(x)

    torch.manual_seed(SEED)
    model = Model()
    start(model, hd, d, torch)
    return model


def start(model, hd, d, torch, scale=0.06):
    """Initial weights: outputs of all layers zero, but for one hand-made circuit that copies from the context.

    Head 0 of layer 0 looks one token back and notes in the last `hd` dimensions what stood there; head 0 of layer 1 looks for a
    place before which the current token stood, and passes on what stands there. Training is free to change all of it, but need not
    find it: that alone takes a small model millions of tokens.
    """
    tokens = d - hd  # dimension 0 is a constant, 1..tokens hold the token, the rest the note
    with torch.no_grad():
        for name, p in model.named_parameters():
            if p.ndim == 2:
                p.zero_() if "o_proj" in name or "down" in name else p.normal_(std=p.shape[1] ** -0.5)
        e = model.embed_tokens.weight
        e[:, tokens:] *= 0.1
        e[:, 0] = 0
        e *= scale * math.sqrt(tokens) / e.norm(dim=1, keepdim=True)
        e[:, 0] = 4 * scale
        constant = 4 / math.sqrt((16 + tokens) / d)  # what dimension 0 is after the norm
        half, fast = hd // 2, 8
        angle = 1.0 / SHAPE["rope_theta"] ** (torch.arange(0, hd, 2).float() / hd)
        code, value = torch.zeros(hd, d), torch.zeros(hd, d)
        for m in (code, value):
            m[:, 1:tokens] = torch.nn.init.orthogonal_(torch.empty(hd, tokens - 1))
        back, match = model.layers[0].self_attn, model.layers[1].self_attn
        for name in ("q_proj", "k_proj"):
            back[name].weight[:hd] = match[name].weight[:hd] = 0
        back["k_proj"].weight[:fast, 0] = 5 / constant
        back["q_proj"].weight[:fast, 0] = 5 / constant * torch.cos(angle[:fast])
        back["q_proj"].weight[half:half + fast, 0] = -5 / constant * torch.sin(angle[:fast])
        back["v_proj"].weight[:hd] = code
        back["o_proj"].weight[tokens:, :hd] = torch.eye(hd) * 3 * scale
        slow = (angle < 0.012).repeat(2).float()  # pairs that hardly turn over a thousand tokens
        match["k_proj"].weight[:hd, tokens:] = torch.diag(slow)
        match["q_proj"].weight[:hd] = slow[:, None] * code * 4
        match["v_proj"].weight[:hd] = value
        match["o_proj"].weight[:, :hd] = value.T * 8 * scale


def make_muon(params, lr):
    """Muon: momentum, made orthogonal by five Newton-Schulz steps. About twice the progress of Adam per token here."""
    import torch

    class Muon(torch.optim.Optimizer):
        def __init__(self):
            super().__init__(params, dict(lr=lr))

        @torch.no_grad()
        def step(self):
            for group in self.param_groups:
                for p in group["params"]:
                    buf = self.state[p].setdefault("buf", torch.zeros_like(p))
                    buf.mul_(0.95).add_(p.grad)
                    x = p.grad.add(buf, alpha=0.95)
                    flip = x.shape[0] > x.shape[1]
                    x = x.T if flip else x
                    x = x / (x.norm() + 1e-7)
                    for _ in range(5):
                        m = x @ x.T
                        x = 3.4445 * x + (-4.7750 * m + 2.0315 * m @ m) @ x
                    x = x.T if flip else x
                    p.mul_(1 - group["lr"] * 0.02)
                    p.add_(x, alpha=-group["lr"] * max(1, x.shape[0] / x.shape[1]) ** 0.5)

    return Muon()


# --- training -----------------------------------------------------------------------------------------------------------

def batches(tok, start, kinds):
    """Endless batches; batch n depends on the seed and n only, so that a resumed run goes on as if never stopped."""
    forms = P.Forms()
    for n in itertools.count(start // 8):
        rng = random.Random(f"{SEED}/{n}")
        rows = []
        while sum(len(r[0]) for r in rows) < BATCH_TOKENS * 8:
            easy = n < EASY_BATCHES
            ids, action = echo(rng) if easy and rng.random() < 0.4 else encode(tok, joined(rng, forms, easy, kinds))
            if len(ids) <= SHAPE["max_position_embeddings"]:
                rows.append((ids, action))
        rows.sort(key=lambda r: len(r[0]))
        groups, group = [], []
        for row in rows:
            if group and (len(group) + 1) * len(row[0]) > BATCH_TOKENS * 1.15:
                groups.append(group)
                group = []
            group.append(row)
        groups = (groups + [group])[:8]
        while len(groups) < 8:
            groups.append(groups[-1])
        rng.shuffle(groups)
        for i in range(start % 8 if n == start // 8 else 0, 8):
            yield groups[i], random.Random(f"{SEED}/{n}/{i}")


def echo(rng):
    """Chunks of random tokens that come again in other orders: the purest form of copying from the context."""
    chunks = [[rng.randrange(len(SPECIAL), SHAPE["vocab_size"]) for _ in range(rng.randint(3, 7))] for _ in range(rng.randint(3, 8))]
    ids, action = [i for c in chunks for i in c], [False] * sum(map(len, chunks))
    for _ in range(3):
        for chunk in rng.sample(chunks, len(chunks)):
            ids += chunk
            action += [False] + [True] * (len(chunk) - 1)
    return ids, action


def joined(rng, forms, easy, kinds):
    """Mostly one conversation; sometimes far documents in front, so that long contexts are known too."""
    if easy and rng.random() < 0.75:
        return P.drill(rng, forms, rng.choice(("en", "zh")))
    one = P.sample(rng, forms, kinds=kinds)
    if rng.random() < 0.12:
        lang = rng.choice(("en", "zh"))
        extra = "\n".join(P.Scene(rng, forms, lang).valid.text for _ in range(rng.randint(2, 9)))
        first = one["messages"][0]
        if first["role"] == "system":
            first["content"] = first["content"] + "\n" + extra if rng.random() < 0.5 else extra + "\n" + first["content"]
        else:
            one["messages"].insert(0, P.message("system", extra))
    return one


def tensors(group, rng, torch):
    width = max(len(r[0]) for r in group)
    ids = torch.zeros(len(group), width, dtype=torch.long)
    learn = torch.zeros(len(group), width, dtype=torch.bool)
    for i, (row, action) in enumerate(group):
        ids[i, :len(row)] = torch.tensor(row)
        learn[i, 1:len(row)] = torch.tensor([a or rng.random() < OTHER_SHARE for a in action[1:]])
    return ids, learn


def train(args):
    import torch
    import torch.nn.functional as F
    torch.set_num_threads(args.threads)
    args.work.mkdir(parents=True, exist_ok=True)
    tok, model = load_tokenizer(), build_model()
    hidden = [p for n, p in model.named_parameters() if p.ndim == 2 and "embed" not in n]
    other = [p for n, p in model.named_parameters() if p.ndim == 1 or "embed" in n]
    muon, adam = make_muon(hidden, args.lr), torch.optim.AdamW(other, lr=args.lr / 10, betas=(0.9, 0.98), weight_decay=0.0)
    step, seen, spent = 0, 0, 0.0
    path = args.work / "checkpoint.pt"
    if path.exists():
        saved = torch.load(path, weights_only=True)
        model.load_state_dict(saved["model"])
        if "muon" in saved:
            muon.load_state_dict(saved["muon"])
            adam.load_state_dict(saved["adam"])
        step, seen, spent = saved["step"], saved["seen"], saved["spent"]
    print("parameters", sum(p.numel() for p in model.parameters()), "from step", step, flush=True)
    started, mean = time.time(), None

    def save(name):
        torch.save({"model": model.state_dict(), "muon": muon.state_dict(), "adam": adam.state_dict(), "step": step,
                    "seen": seen, "spent": spent + time.time() - started}, args.work / "new.pt")
        (args.work / "new.pt").rename(args.work / name)

    for group, rng in batches(tok, step, P.LATER_KINDS if args.later else P.KINDS):
        if seen >= args.tokens:
            break
        left = (args.tokens - seen) / (args.decay * args.tokens)
        factor = min(1.0, (step + 1) / 60, max(left, 0.02))
        for opt, lr in ((muon, args.lr), (adam, args.lr / 10)):
            opt.param_groups[0]["lr"] = lr * factor
        ids, learn = tensors(group, rng, torch)
        x = model(ids[:, :-1])[learn[:, 1:]]
        loss = F.cross_entropy(x @ model.embed_tokens.weight.T, ids[:, 1:][learn[:, 1:]])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        muon.step()
        adam.step()
        muon.zero_grad()
        adam.zero_grad()
        step += 1
        seen += sum(len(r[0]) for r in group)
        mean = loss.item() if mean is None else 0.98 * mean + 0.02 * loss.item()
        if step % args.say == 0:
            rate = seen / (spent + time.time() - started)
            print(f"step {step} tokens {seen / 1e6:.2f}M loss {mean:.3f} {rate:.0f} tok/s", flush=True)
        if step % 200 == 0:
            save("checkpoint.pt" if left > 1.0 else "decaying.pt")
        if step % args.probe == 0:
            print(report(tok, model, 12, torch), flush=True)
    save("final.pt")
    print(report(tok, model, 12, torch), f"seconds {spent + time.time() - started:.0f}", flush=True)


def widen(args):
    """Turns the three heads of the first stage into four: transformers wants heads that divide the width."""
    import torch
    torch.manual_seed(SEED + 1)
    saved, d, hd = torch.load(args.work / "final.pt", weights_only=True), SHAPE["hidden_size"], SHAPE["head_dim"]
    for name, old in saved["model"].items():
        if name.endswith(("q_proj.weight", "k_proj.weight", "v_proj.weight")):
            saved["model"][name] = torch.cat((old, torch.randn(hd, d) * d ** -0.5), 0)
        if name.endswith("o_proj.weight"):
            saved["model"][name] = torch.cat((old, torch.zeros(d, hd)), 1)
    torch.save({k: saved[k] for k in ("model", "step", "seen", "spent")}, args.work / "checkpoint.pt")


# --- measuring ------------------------------------------------------------------------------------------------------------

def score(tok, model, torch, conversation, answer):
    """Summed log-prob of an action, the stop token included, and its length in bytes."""
    last = answer if isinstance(answer, dict) else P.message("assistant", answer)
    whole = {**conversation, "messages": conversation["messages"] + [last]}
    parts = P.segments(whole)
    context = tok.encode("".join(t for t, _ in parts[:-2])).ids
    action = tok.encode(parts[-2][0]).ids
    with torch.no_grad():
        x = model(torch.tensor([context + action[:-1]]))[0, len(context) - 1:]
        logp = torch.log_softmax(x @ model.embed_tokens.weight.T, -1)
    return logp.gather(1, torch.tensor(action)[:, None]).sum().item(), len(parts[-2][0].encode())


def insertion_effects(tok, model, torch, cases):
    rows = []
    for c in cases:
        def margin(prompt):
            (a, n), (b, m) = score(tok, model, torch, prompt, c["right"]), score(tok, model, torch, prompt, c["wrong"])
            return a, a - b, a / n - b / m
        recorded, inserted = margin(c["recorded"]), margin(c["inserted"])
        placebos = [margin(p) for p in c["placebos"]]
        rows.append({"gain": inserted[0] - recorded[0], "shift": inserted[1] - recorded[1],
                     "placebo_gain": statistics.median(p[0] for p in placebos) - recorded[0],
                     "placebo_shift": statistics.median(p[1] for p in placebos) - recorded[1],
                     "before": recorded[2] < 0, "after": inserted[2] > 0})
    return rows


def tool_effects(tok, model, torch, cases):
    rows = []
    for c in cases:
        def margin(prompt):
            a, b = score(tok, model, torch, prompt, c["right"]), score(tok, model, torch, prompt, c["wrong"])
            return a[0] - b[0]
        before, after = margin(c["recorded"]), margin(c["rewritten"])
        rows.append({"shift": after - before, "before": before < 0, "after": after > 0})
    return rows


def summary(rows):
    out = {}
    for key in rows[0]:
        values = [r[key] for r in rows]
        out[key] = round(sum(values) / len(values) if isinstance(values[0], bool) else statistics.median(values), 2)
    if "placebo_shift" in out:
        out["placebo_mad"] = round(statistics.median(abs(r["placebo_shift"]) for r in rows), 2)
        out["clear"] = round(sum(r["shift"] - r["placebo_shift"] >= 1 for r in rows) / len(rows), 2)
    return out


def report(tok, model, n, torch):
    out = {}
    for lang in ("en", "zh"):
        rng = random.Random(f"held-out/{lang}")
        out[f"insert_{lang}"] = summary(insertion_effects(tok, model, torch, [P.insertion_case(rng, lang) for _ in range(n)]))
        out[f"tool_{lang}"] = summary(tool_effects(tok, model, torch, [P.tool_case(rng, lang) for _ in range(n)]))
    return json.dumps(out)


def load_weights(path, torch):
    model = build_model()
    if path.suffix == ".safetensors":
        from safetensors.torch import load_file
        saved = {k.removeprefix("model."): v.float() for k, v in load_file(path).items()}
    else:
        saved = torch.load(path, weights_only=True)["model"]
    model.load_state_dict(saved)
    return model.eval()


def evaluate(args):
    import torch
    torch.set_num_threads(args.threads)
    print(report(load_tokenizer(), load_weights(args.weights or ASSETS / "model.safetensors", torch), args.cases, torch))


def export(args):
    import torch
    from safetensors.torch import save_file
    model = load_weights(args.weights or args.work / "final.pt", torch)
    save_file({f"model.{k}": v.half().contiguous() for k, v in model.state_dict().items()},
              str(ASSETS / "model.safetensors"), metadata={"format": "pt"})
    tok = load_tokenizer()
    (ASSETS / "config.json").write_text(json.dumps({
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", **SHAPE,
        "hidden_act": "silu", "tie_word_embeddings": True, "attention_bias": False, "mlp_bias": False,
        "eos_token_id": tok.token_to_id(P.END), "pad_token_id": tok.token_to_id("<|pad|>"), "bos_token_id": None,
        "torch_dtype": "float16"}, indent=2) + "\n")
    check_export(tok, torch)


def check_export(tok, torch):
    """The exported folder, read by transformers, gives the same bytes and the same log-probs as this script."""
    from transformers import AutoModelForCausalLM, AutoTokenizer
    hf_tok = AutoTokenizer.from_pretrained(ASSETS)
    hf = AutoModelForCausalLM.from_pretrained(ASSETS, dtype=torch.float32).eval()
    ours = load_weights(ASSETS / "model.safetensors", torch)
    rng, forms, worst = random.Random(1), P.Forms(), 0.0
    for _ in range(20):
        conversation = P.sample(rng, forms)
        text = "".join(t for t, _ in P.segments(conversation))
        rendered = hf_tok.apply_chat_template(conversation["messages"], tools=conversation.get("tools"), tokenize=False)
        assert rendered == text, (rendered, text)
        ids, _ = encode(tok, conversation)
        assert hf_tok(text)["input_ids"] == ids
        ids = torch.tensor([ids])
        with torch.no_grad():
            a = torch.log_softmax(hf(ids).logits, -1)
            b = torch.log_softmax(ours(ids) @ ours.embed_tokens.weight.T, -1)
        worst = max(worst, (a - b).abs().max().item())
    print("largest difference to transformers", worst)
    assert worst < 1e-3


# --- leak check ---------------------------------------------------------------------------------------------------------

def overlap(args):
    """Longest runs of words (characters for Chinese) that training text shares with files that must stay unseen."""
    import re

    def grams(text):
        words = re.findall(r"[a-z]+|[0-9]+|[\u4e00-\u9fff]", text.lower())
        return {tuple(words[i:i + args.n]) for i in range(len(words) - args.n + 1)}
    rng, forms, seen = random.Random(SEED + 1), P.Forms(), set()
    for _ in range(args.cases * 100):
        conversation = P.sample(rng, forms)
        seen |= grams(" ".join(str(m.get("content")) for m in conversation["messages"]))
    bad = 0
    for path in sorted(p for folder in ("sample-logs", "assets/fault-suite") for p in (ROOT / folder).rglob("*.json*")):
        for gram in sorted(grams(path.read_text(errors="replace")) & seen)[:5]:
            bad += 1
            print(path.relative_to(ROOT), " ".join(gram))
    print("shared", f"{args.n}-grams:", bad)
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["tokenizer", "train", "widen", "evaluate", "export", "overlap"])
    parser.add_argument("--work", type=Path, default=ROOT / "target" / "proxy")
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--tokens", type=float, default=60e6)
    parser.add_argument("--decay", type=float, default=0.3)
    parser.add_argument("--lr", type=float, default=0.02)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--probe", type=int, default=200)
    parser.add_argument("--say", type=int, default=25)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--n", type=int, default=8)
    parser.add_argument("--heads", type=int, default=SHAPE["num_attention_heads"])
    parser.add_argument("--later", action="store_true")
    args = parser.parse_args()
    SHAPE.update(num_attention_heads=args.heads, num_key_value_heads=args.heads)
    command = {"tokenizer": make_tokenizer, "train": train, "widen": widen, "evaluate": evaluate, "export": export, "overlap": overlap}
    return command[args.command](args)


if __name__ == "__main__":
    raise SystemExit(main())
