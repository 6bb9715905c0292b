"""Runs triagent's scorer and other engines on the same work, one after the other on this machine, and prints ratios.

    python scripts/compare_engines.py --gguf SmolLM2-135M-Instruct.Q4_1.gguf --template chat.jinja [--repeat 3] [--only pairs]

Needs Python with torch, transformers and gguf; llama.cpp joins in where llama-cpp-python is installed (its build trap: with gcc 12.2 and
native flags it crashes on machines with AMX unless CMAKE_ARGS has -DCMAKE_CXX_FLAGS="-fno-tree-dse -fno-dse").
Each engine runs in a process of its own, so that its peak memory is its own. Times are wall seconds, the best of the repeats.

Work (`--only` takes some of them):
  pairs      one prompt of about 2,047 tokens, 32 actions of about 64
  one        the same prompt, one action: what sharing the prompt saves is the ratio to `sixteen`
  sixteen    the same prompt, 16 actions
  long       one prompt of about 8,000 tokens, 8 actions
  unrelated  16 prompts of about 512 tokens, one action each
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


def text(rng, tokens):
    # These words are one token each, with their space, in most vocabularies.
    return " ".join(rng.choices(WORDS, k=tokens))


def workload(shape):
    rng = random.Random(7)
    return {"requests": [{"context": text(rng, n), "actions": [text(rng, 60) for _ in range(k)]} for n, k in shape]}


def tokenizer(args):
    from transformers import AutoTokenizer

    where, extra = model_of(args)
    loaded = AutoTokenizer.from_pretrained(where, **extra)
    loaded.chat_template = pathlib.Path(args.template).read_text()
    return loaded


def model_of(args):
    folder, file = os.path.split(os.path.abspath(args.gguf))
    return folder, {"gguf_file": file}


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
        }
        ran = subprocess.run([args.bench], env=os.environ | settings, capture_output=True, text=True, check=False)
    if ran.returncode:
        sys.exit(ran.stderr)
    told = json.loads(ran.stdout.splitlines()[-1])
    return {
        "seconds": sum(r["first_s"] + r["actions_s"] for r in told["requests"]),
        "peak_mib": told["peak_rss_mib"],
        "logps": [r["logps"] for r in told["requests"]],
    }


def run_transformers(args, work, dtype="float32"):
    import torch
    from transformers import AutoModelForCausalLM

    where, extra = model_of(args)
    requests = tokens_of(args, work)
    model = AutoModelForCausalLM.from_pretrained(where, dtype=dtype, **extra).eval()
    began = time.perf_counter()
    with torch.inference_mode():
        logps = [request_in_transformers(model, head, actions) for head, actions in requests]
    return {"seconds": time.perf_counter() - began, "peak_mib": peak(), "logps": logps}


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


def run_llama_cpp(args, work):
    import llama_cpp as ll
    import numpy as np

    requests = tokens_of(args, work)
    ll.llama_backend_init()
    # Its own talk would stand between ours.
    silent = ll.llama_log_callback(lambda *_: None)
    ll.llama_log_set(silent, None)
    model = ll.llama_model_load_from_file(os.path.abspath(args.gguf).encode(), ll.llama_model_default_params())
    longest = max(len(h) + sum(map(len, a)) for h, a in requests)
    settings = ll.llama_context_default_params()
    settings.n_ctx, settings.n_batch, settings.n_ubatch, settings.n_seq_max = longest + 64, 512, 512, 33
    settings.n_threads = settings.n_threads_batch = args.threads
    settings.kv_unified, settings.flash_attn_type = True, 1
    context = ll.llama_init_from_model(model, settings)
    memory = ll.llama_get_memory(context)
    words = ll.llama_vocab_n_tokens(ll.llama_model_get_vocab(model))

    def decode(tokens, first, sequence, wanted):
        batch = ll.llama_batch_init(len(tokens), 0, 1)
        batch.n_tokens = len(tokens)
        for i, token in enumerate(tokens):
            batch.token[i], batch.pos[i], batch.n_seq_id[i] = token, first + i, 1
            batch.seq_id[i][0], batch.logits[i] = sequence, wanted
        assert ll.llama_decode(context, batch) == 0
        ll.llama_batch_free(batch)

    began = time.perf_counter()
    logps = []
    for head, actions in requests:
        ll.llama_memory_clear(memory, True)
        for at in range(0, len(head) - 1, 512):
            decode(head[:-1][at : at + 512], at, 0, False)
        told = []
        for action in actions:
            ll.llama_memory_seq_cp(memory, 0, 1, -1, -1)
            decode(head[-1:] + action[:-1], len(head) - 1, 1, True)
            logits = np.ctypeslib.as_array(ll.llama_get_logits(context), shape=(len(action), words))
            top = logits.max(-1)
            normal = top + np.log(np.exp(logits - top[:, None]).sum(-1))
            told.append((logits[np.arange(len(action)), action] - normal).tolist())
            ll.llama_memory_seq_rm(memory, 1, -1, -1)
        logps.append(told)
    return {"seconds": time.perf_counter() - began, "peak_mib": peak(), "logps": logps}


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


ENGINES = {
    "triagent f32": run_triagent,
    "triagent bf16": lambda args, work: run_triagent(args, work, "bf16"),
    "transformers f32": run_transformers,
    "transformers bf16": lambda args, work: run_transformers(args, work, "bfloat16"),
    "llama.cpp": run_llama_cpp,
}


def in_a_process(args, engine, work):
    command = [sys.executable, __file__, "--engine", engine, "--work", work]
    for name in ("gguf", "template", "bench", "threads"):
        command += [f"--{name}", str(getattr(args, name))]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        print(f"{engine}: skipped: {ran.stderr.strip().splitlines()[-1]}")
        return None
    return json.loads(ran.stdout.splitlines()[-1])


def farthest(ours, theirs):
    pairs = [
        abs(a - b) for mine, other in zip(ours, theirs) for one, two in zip(mine, other) for a, b in zip(one, two)
    ]
    return max(pairs), sum(pairs) / len(pairs)


def compare(args, work):
    best = {}
    for _ in range(args.repeat):
        for engine in args.engines.split(","):
            told = in_a_process(args, engine, work)
            if told and (engine not in best or told["seconds"] < best[engine]["seconds"]):
                best[engine] = told
    exact = best.get("transformers f32")
    ruler = best.get("llama.cpp") or exact
    for engine, told in best.items():
        ratio = f"{told['seconds'] / ruler['seconds']:.2f}" if ruler else "-"
        off = "farthest {:.1e}, mean {:.1e} nats".format(*farthest(told["logps"], exact["logps"])) if exact else ""
        print(f"{work:<10} {engine:<18} {told['seconds']:8.2f} s  {ratio:>5} x  {told['peak_mib']:6} MiB  {off}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gguf", required=True)
    parser.add_argument("--template", required=True)
    parser.add_argument("--bench", help="the built benchmark [cargo bench --bench score --no-run]")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--only", default=",".join(SHAPES))
    parser.add_argument("--engine", help=argparse.SUPPRESS)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.engine:
        print(json.dumps(ENGINES[args.engine](args, workload(SHAPES[args.work]))))
        return
    if not args.bench:
        built = subprocess.run(
            ["cargo", "bench", "--bench", "score", "--no-run", "--message-format=json"],
            cwd=HERE, capture_output=True, text=True, check=True,
        )  # fmt: skip
        told = [json.loads(line) for line in built.stdout.splitlines()]
        args.bench = next(t["executable"] for t in told if t.get("executable") and t["target"]["name"] == "score")
    print(f"ratio: to llama.cpp where it ran, else to transformers in F32; {args.threads} threads; distance: to transformers in F32")
    for work in args.only.split(","):
        compare(args, work)


main()
