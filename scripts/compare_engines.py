"""Runs triagent's scorer and other engines on the same work, one after the other on this machine, and prints ratios.

    python scripts/compare_engines.py --gguf SmolLM2-135M-Instruct.Q4_1.gguf --template tests/score/template.jinja
        [--repeat 3] [--only pairs,one] [--llama-python VENV/bin/python] [--llama-gguf OTHER.gguf] [--json FILE]

Needs Python with torch, transformers and gguf; llama.cpp joins in where --llama-python has llama-cpp-python and numpy (its build trap: with
gcc 12.2 and native flags it crashes on machines with AMX unless CMAKE_ARGS has -DCMAKE_CXX_FLAGS="-fno-tree-dse -fno-dse").
--llama-gguf adds a run of llama.cpp on the same model in another quantisation, made from it with llama_model_quantize.
--make-random FOLDER writes a Llama of half a billion random weights (F32, with the GGUF file's tokenizer); give it as --gguf afterwards.
Each engine runs in a process of its own, so that its peak memory is its own; loading is not timed. Of the repeats, the one with the least wall
time is told. Load averages stand beside the figures: other people's work makes them larger, and not evenly.

Work (`--only` takes some of them):
  pairs      one prompt of about 2,047 tokens, 32 actions of about 64
  one        the same prompt, one action: what sharing the prompt saves is the ratio to `sixteen`
  sixteen    the same prompt, 16 actions
  long       one prompt of about 8,000 tokens, 8 actions
  unrelated  16 prompts of about 512 tokens, one action each
  PxKaL      one prompt of about P tokens, K actions of about L tokens, as 2047x16a20
"""

import argparse
import json
import os
import pathlib
import random
import resource
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent.parent
WORDS = (
    "policy refund days agent index context search valid version expense claim receipt manager approve order ticket "
    "account customer return window delivery before after under rule section date changed current old limit report"
).split()
SHAPES = {
    "pairs": [(2047, 32)],
    "one": [(2047, 1)],
    "sixteen": [(2047, 16)],
    "long": [(8000, 8)],
    "unrelated": [(512, 1)] * 16,
}


def shape_of(work):
    """[(tokens of the prompt, actions, tokens of an action)]"""
    if work in SHAPES:
        return [(*one, 60) for one in SHAPES[work]]
    prompt, rest = work.split("x")
    actions, _, length = rest.partition("a")
    # The stop token and the line break behind it are two more.
    return [(int(prompt), int(actions), int(length or 62) - 2)]


def text(rng, tokens):
    # These words are one token each, with their space, in most vocabularies.
    return " ".join(rng.choices(WORDS, k=tokens))


def workload(shape):
    rng = random.Random(7)
    return {"requests": [{"context": text(rng, n), "actions": [text(rng, m) for _ in range(k)]} for n, k, m in shape]}


def tokenizer(args):
    from transformers import AutoTokenizer

    where, extra = model_of(args)
    loaded = AutoTokenizer.from_pretrained(where, **extra)
    loaded.chat_template = pathlib.Path(args.template).read_text()
    return loaded


def model_of(args):
    if os.path.isdir(args.gguf):
        return args.gguf, {}
    folder, file = os.path.split(os.path.abspath(args.gguf))
    return folder, {"gguf_file": file}


def make_random(args):
    """Growth with size needs no trained weights: times do not depend on them."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(7)
    config = LlamaConfig(
        vocab_size=49152, hidden_size=1024, intermediate_size=4096, num_hidden_layers=28, num_attention_heads=16,
        num_key_value_heads=4, max_position_embeddings=16384, tie_word_embeddings=True, eos_token_id=2,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(args.make_random)
    tokenizer(args).save_pretrained(args.make_random)


def tokens_of(args, work):
    """[(prompt ids, [action ids])], by Python's own rendering."""
    loaded = tokenizer(args)

    def ids(messages, **more):
        return loaded.apply_chat_template(messages, tokenize=True, return_dict=False, **more)

    out = []
    for request in work["requests"]:
        ask = [{"role": "user", "content": request["context"]}]
        head = ids(ask, add_generation_prompt=True)
        actions = []
        for action in request["actions"]:
            full = ids(ask + [{"role": "assistant", "content": action}])
            assert full[: len(head)] == head
            actions.append(full[len(head) :])
        out.append((head, actions))
    return out


def run_triagent(args, work, precision="f32"):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(work, file)
        file.flush()
        settings = {
            "TRIAGENT_WORKLOAD": file.name,
            "TRIAGENT_BENCH_MODEL": os.path.abspath(args.gguf),
            "TRIAGENT_BENCH_TEMPLATE": os.path.abspath(args.template),
            "TRIAGENT_BENCH_PRECISION": precision,
            "RAYON_NUM_THREADS": str(args.threads),
        }
        ran = subprocess.run([args.bench], env=os.environ | settings, capture_output=True, text=True, check=False)
    if ran.returncode:
        sys.exit(ran.stderr)
    told = json.loads(ran.stdout.splitlines()[-1])
    return {
        "seconds": sum(r["wall_s"] for r in told["requests"]),
        "cpu": sum(r["cpu_s"] for r in told["requests"]),
        "peak_mib": told["peak_rss_mib"],
        "logps": [r["logps"] for r in told["requests"]],
    }


def run_transformers(args, work, dtype="float32"):
    import torch
    from transformers import AutoModelForCausalLM

    where, extra = model_of(args)
    requests = tokens_of(args, work)
    model = AutoModelForCausalLM.from_pretrained(where, dtype=dtype, **extra).eval()
    torch.set_num_threads(args.threads)
    clock = Clock()
    with torch.inference_mode():
        logps = [request_in_transformers(model, head, actions) for head, actions in requests]
    return clock.told() | {"logps": logps}


def request_in_transformers(model, head, actions, batch=8):
    import copy

    import torch

    # All but the last token of the prompt is shared; the last one predicts each action's first.
    shared = model.model(torch.tensor([head[:-1]]), use_cache=True).past_key_values
    out = []
    for at in range(0, len(actions), batch):
        some = actions[at : at + batch]
        width = max(map(len, some))
        rows = torch.tensor([head[-1:] + a + [0] * (width - len(a)) for a in some])
        cache = copy.deepcopy(shared)
        cache.batch_repeat_interleave(len(some))
        states = model.model(rows[:, :-1], past_key_values=cache).last_hidden_state
        logits = model.lm_head(states).float()
        picked = logits.log_softmax(-1).gather(-1, rows[:, 1:, None])[..., 0]
        out += [row[: len(a)].tolist() for row, a in zip(picked, some)]
    return out


def run_llama_cpp(args, work, other=False):
    """Runs in a Python that may have nothing but llama-cpp-python and numpy: the tokens come in a file."""
    import llama_cpp as ll
    import numpy as np

    requests = json.loads(pathlib.Path(args.tokens).read_text())
    ll.llama_backend_init()
    # Its own talk would stand between ours.
    silent = ll.llama_log_callback(lambda *_: None)
    ll.llama_log_set(silent, None)
    file = args.llama_gguf if other else args.gguf
    model = ll.llama_model_load_from_file(os.path.abspath(file).encode(), ll.llama_model_default_params())
    together = args.llama_batch
    settings = ll.llama_context_default_params()
    settings.n_ctx = max(len(h) + together * max(map(len, a)) for h, a in requests) + 64
    settings.n_batch, settings.n_ubatch, settings.n_seq_max = 512, 512, together + 1
    settings.n_threads = settings.n_threads_batch = args.threads
    settings.kv_unified, settings.flash_attn_type = True, 1
    context = ll.llama_init_from_model(model, settings)
    memory = ll.llama_get_memory(context)
    words = ll.llama_vocab_n_tokens(ll.llama_model_get_vocab(model))

    def decode(rows):
        """Rows of (token, position, sequence, is the next one wanted)."""
        batch = ll.llama_batch_init(len(rows), 0, 1)
        batch.n_tokens = len(rows)
        for i, (token, position, sequence, wanted) in enumerate(rows):
            batch.token[i], batch.pos[i], batch.n_seq_id[i] = token, position, 1
            batch.seq_id[i][0], batch.logits[i] = sequence, wanted
        assert ll.llama_decode(context, batch) == 0, "llama_decode refused a batch"
        ll.llama_batch_free(batch)

    def logps_of(targets):
        logits = np.ctypeslib.as_array(ll.llama_get_logits(context), shape=(len(targets), words))
        top = logits.max(-1)
        normal = top + np.log(np.exp(logits - top[:, None]).sum(-1))
        return (logits[np.arange(len(targets)), targets] - normal).tolist()

    clock = Clock()
    logps = []
    for head, actions in requests:
        ll.llama_memory_clear(memory, True)
        for at in range(0, len(head) - 1, 512):
            some = head[:-1][at : at + 512]
            decode([(token, at + i, 0, False) for i, token in enumerate(some)])
        told = []
        for at in range(0, len(actions), together):
            some = actions[at : at + together]
            rows = []
            for sequence, action in enumerate(some, 1):
                ll.llama_memory_seq_cp(memory, 0, sequence, -1, -1)
                fed = head[-1:] + action[:-1]
                rows += [(token, len(head) - 1 + i, sequence, True) for i, token in enumerate(fed)]
            decode(rows)
            flat = logps_of([token for action in some for token in action])
            for sequence, action in enumerate(some, 1):
                told.append(flat[: len(action)])
                flat = flat[len(action) :]
                ll.llama_memory_seq_rm(memory, sequence, -1, -1)
        logps.append(told)
    return clock.told() | {"logps": logps}


class Clock:
    """Wall and processor seconds since it was made, and this process's peak memory."""

    def __init__(self):
        self.wall, self.cpu = time.perf_counter(), time.process_time()

    def told(self):
        return {
            "seconds": time.perf_counter() - self.wall,
            "cpu": time.process_time() - self.cpu,
            "peak_mib": peak(),
        }


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


ENGINES = {
    "triagent f32": run_triagent,
    "triagent int8": lambda args, work: run_triagent(args, work, "int8"),
    "triagent bf16": lambda args, work: run_triagent(args, work, "bf16"),
    "transformers f32": run_transformers,
    "transformers bf16": lambda args, work: run_transformers(args, work, "bfloat16"),
    "llama.cpp": run_llama_cpp,
    "llama.cpp other": lambda args, work: run_llama_cpp(args, work, other=True),
    # No engine: what the others are given.
    "tokens": tokens_of,
}
# Half precision is told on demand.
USUAL = [name for name in ENGINES if "bf16" not in name and name != "tokens"]


def in_a_process(args, engine, work, tokens=None):
    python = args.llama_python if engine.startswith("llama.cpp") else sys.executable
    if python is None or os.path.isdir(args.gguf) and engine.startswith("llama.cpp"):
        return None
    if engine == "llama.cpp other" and args.llama_gguf is None:
        return None
    command = [python, __file__, "--engine", engine, "--work", work]
    for name in ("gguf", "template", "bench", "threads", "llama_gguf", "llama_batch"):
        if getattr(args, name) is not None:
            command += [f"--{name.replace('_', '-')}", str(getattr(args, name))]
    if tokens:
        command += ["--tokens", tokens]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        print(f"{engine}: skipped: {(ran.stderr.strip() or 'ended by a signal').splitlines()[-1]}")
        return None
    return json.loads(ran.stdout.splitlines()[-1])


def farthest(ours, theirs):
    pairs = []
    for mine, other in zip(ours, theirs, strict=True):
        for one, two in zip(mine, other, strict=True):
            pairs += [abs(a - b) for a, b in zip(one, two, strict=True)]
    return max(pairs), sum(pairs) / len(pairs)


def margin_error(ours, theirs):
    """How far the margin of actions 2i and 2i + 1 moves, at most."""
    worst = 0.0
    for mine, other in zip(ours, theirs, strict=True):
        off = [sum(one) - sum(two) for one, two in zip(mine, other, strict=True)]
        worst = max([worst, *(abs(a - b) for a, b in zip(off[::2], off[1::2]))])
    return worst


def compare(args, work):
    best = {}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(in_a_process(args, "tokens", work), file)
        file.flush()
        for _ in range(args.repeat):
            for engine in args.engines.split(","):
                told = in_a_process(args, engine, work, file.name)
                if told:
                    told["load"] = os.getloadavg()[0]
                    if engine not in best or told["seconds"] < best[engine]["seconds"]:
                        best[engine] = told
    exact = best.get("transformers f32")
    ruler = best.get("llama.cpp") or exact
    for engine, told in best.items():
        row = {"work": work, "engine": engine} | {k: told[k] for k in ("seconds", "cpu", "peak_mib", "load")}
        if ruler:
            row["ratio"] = told["seconds"] / ruler["seconds"]
            row["cpu_ratio"] = told["cpu"] / ruler["cpu"]
        if exact:
            row["farthest"], row["mean"] = farthest(told["logps"], exact["logps"])
            row["margin"] = margin_error(told["logps"], exact["logps"])
        show(row)
        if args.json:
            with open(args.json, "a", encoding="utf-8") as kept:
                kept.write(json.dumps(row) + "\n")


def show(row):
    line = f"{row['work']:<12} {row['engine']:<17} {row['seconds']:7.2f} s {row['cpu']:7.2f} cpu s {row['peak_mib']:6} MiB"
    if "ratio" in row:
        line += f"  {row['ratio']:5.2f} x {row['cpu_ratio']:5.2f} x cpu"
    if "farthest" in row:
        line += f"  farthest {row['farthest']:.1e} mean {row['mean']:.1e} margin {row['margin']:.1e} nats"
    print(f"{line}  load {row['load']:.1f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gguf", required=True, help="or a Hugging Face folder; llama.cpp is left out then")
    parser.add_argument("--template", required=True)
    parser.add_argument("--bench", help="the built benchmark [cargo bench --bench score --no-run]")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--engines", default=",".join(USUAL))
    parser.add_argument("--only", default=",".join(SHAPES))
    parser.add_argument("--llama-python", help="a Python that has llama-cpp-python and numpy")
    parser.add_argument("--llama-gguf", help="the same model as llama.cpp likes it best")
    parser.add_argument("--llama-batch", type=int, default=8, help="actions that llama.cpp decodes together")
    parser.add_argument("--make-random", metavar="FOLDER", help="write a large random model and stop")
    parser.add_argument("--json", help="also add each row to this file")
    parser.add_argument("--engine", help=argparse.SUPPRESS)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument("--tokens", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.make_random:
        return make_random(args)
    if args.engine:
        print(json.dumps(ENGINES[args.engine](args, workload(shape_of(args.work)))))
        return
    if not args.bench:
        built = subprocess.run(
            ["cargo", "bench", "--bench", "score", "--no-run", "--message-format=json"],
            cwd=HERE, capture_output=True, text=True, check=True,
        )  # fmt: skip
        told = [json.loads(line) for line in built.stdout.splitlines()]
        args.bench = next(t["executable"] for t in told if t.get("executable") and t["target"]["name"] == "score")
    print(f"ratios: to llama.cpp where it ran, else to transformers in F32; {args.threads} threads; distances: to transformers in F32")
    for work in args.only.split(","):
        compare(args, work)


if __name__ == "__main__":
    main()
