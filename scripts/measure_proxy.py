#!/usr/bin/env python3
"""Measures the embedded proxy on the sample logs' teaching case and on the fault suite: one cell, no wrappers, no bootstrap.

A quick look for whoever trains it; `triagent probe` and `triagent calibrate` do the real thing.

    python3 scripts/measure_proxy.py samples [--weights FILE]
    python3 scripts/measure_proxy.py suite [--weights FILE]
"""

import argparse
import collections
import copy
import json
import statistics
from pathlib import Path

import proxy_tasks as P
import train_proxy as T

ROOT = T.ROOT


class Scorer:
    """Log-probs of whole actions under the exported or a given checkpoint."""

    def __init__(self, weights):
        import torch
        self.torch, self.tok = torch, T.load_tokenizer()
        self.model = T.load_weights(weights or T.ASSETS / "model.safetensors", torch)

    def margin(self, messages, tools, right, wrong):
        """Returns (raw margin, byte margin, log-prob of the right action, prompt tokens)."""
        prompt = {"messages": messages, "tools": tools}
        a, n = T.score(self.tok, self.model, self.torch, prompt, right)
        b, m = T.score(self.tok, self.model, self.torch, prompt, wrong)
        return a - b, a / n - b / m, a

    def tokens(self, messages, tools):
        return len(self.tok.encode("".join(t for t, _ in P.segments({"messages": messages, "tools": tools}))).ids)


def from_atif(run):
    """Messages before the last agent message, and that message."""
    messages = []
    for step in run["steps"]:
        role = {"agent": "assistant"}.get(step["source"], step["source"])
        message = {"role": role, "content": step["message"]}
        if step.get("tool_calls"):
            message["tool_calls"] = [{"function": {"name": c["function_name"], "arguments": c["arguments"]}} for c in step["tool_calls"]]
        messages.append(message)
        for result in step.get("observation", {}).get("results", []):
            messages.append({"role": "tool", "content": result["content"]})
    return messages[:-1], messages[-1]


def samples(scorer):
    folder = ROOT / "sample-logs"
    expected = json.loads((folder / "EXPECTED.json").read_text())
    texts = [json.loads(line) for line in (folder / "documents.jsonl").read_text().splitlines()]
    shown = {(d["doc_id"], d["version"]): f"[{d['doc_id']} {d['version']}] {d['text']}" for d in texts}
    longest = 0
    for name, want in expected["runs"].items():
        path = next((folder / "runs").rglob(f"{name}.trajectory.json"))
        run = json.loads(path.read_text())
        messages, last = from_atif(run)
        tools = run["agent"]["tool_definitions"]
        longest = max(longest, scorer.tokens(messages + [last], tools))
        if "corrected" not in want or not name.startswith("teach"):
            continue
        right = {"role": "assistant", "content": want["corrected"]}
        lang = "zh" if any("\u4e00" <= c <= "\u9fff" for c in messages[1]["content"]) else "en"
        row = [scorer.margin(messages, tools, right, last)]
        if "missing" in want:
            key = (want["missing"]["doc_id"], want["missing"]["version"])
            placebos = [t for k, t in shown.items() if k[0] != key[0] and k[1] == "v2" and (k[0].endswith("-zh") == (lang == "zh"))]
            for extra in [shown[key]] + placebos:
                more = copy.deepcopy(messages)
                more[-1]["content"] += "\n" + extra
                row.append(scorer.margin(more, tools, right, last))
            base, with_doc, rest = row[0], row[1], row[2:]
            placebo = statistics.median(r[0] for r in rest) - base[0]
            print(f"{name} {lang} margin {base[0]:7.2f} -> {with_doc[0]:7.2f}  shift {with_doc[0] - base[0]:6.2f}  placebo {placebo:5.2f}"
                  f"  right action {base[2]:7.2f} -> {with_doc[2]:7.2f}")
        else:
            print(f"{name} {lang} margin {row[0][0]:7.2f} (all evidence in view)")
    print("longest sample in proxy tokens:", longest)


def varied(record, name, placebo=None):
    """Messages and tools under a variant; a placebo goes where the variant's document goes."""
    messages, tools = copy.deepcopy(record["prompt"]["messages"]), copy.deepcopy(record["prompt"]["tools"])
    variant = record["variants"].get(name)
    if placebo is not None or variant["op"] == "insert_document":
        slot = max(i for i, m in enumerate(messages) if m["role"] == "tool")
        messages[slot]["content"] += "\n" + (placebo if placebo is not None else variant["text"])
    elif variant["op"] == "replace_text":
        for edit in variant["edits"]:
            m = messages[variant["message"]]
            m["content"] = m["content"].replace(edit["find"], edit["put"])
    elif variant["op"] == "remove_text":
        m = messages[variant["message"]]
        m["content"] = m["content"].replace(variant["text"], "")
    else:
        for edit in variant["edits"]:
            f = next(t["function"] for t in tools if t["function"]["name"] == edit["tool"])
            f["description"] = edit["description"]
            for arg, text in edit["arguments"].items():
                f["parameters"]["properties"][arg]["description"] = text
    return messages, tools


def suite(scorer):
    folder = ROOT / "assets" / "fault-suite"
    records = [json.loads(line) for line in (folder / "suite.jsonl").read_text().splitlines()]
    pool = {p["id"]: p["text"] for p in map(json.loads, (folder / "placebos.jsonl").read_text().splitlines())}
    table = collections.defaultdict(list)
    for r in records:
        right, wrong = r["corrected"][0], r["recorded"]

        def margin(messages, tools):
            return scorer.margin(messages, tools, right, wrong)
        base = margin(r["prompt"]["messages"], r["prompt"]["tools"])
        row = {"reproduced": base[1] < 0, "margin": base[0]}
        placebo = statistics.median(margin(*varied(r, "P", pool[p]))[0] for p in r["placebos"][:3]) - base[0]
        row["placebo"] = placebo
        for name in r["variants"]:
            got = margin(*varied(r, name))
            row[name] = got[0] - base[0]
            row[name + ">0"] = got[1] > 0
        table[(r["cause"], r["lang"])].append(row)
    for key, rows in sorted(table.items()):
        keys = sorted({k for row in rows for k in row})
        cells = []
        for k in keys:
            values = [row[k] for row in rows if k in row]
            cells.append(f"{k} {sum(values) / len(values):.2f}" if isinstance(values[0], bool) else f"{k} {statistics.median(values):.2f}")
        print(*key, len(rows), "|", "  ".join(cells), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["samples", "suite"])
    parser.add_argument("--weights", type=Path)
    args = parser.parse_args()
    {"samples": samples, "suite": suite}[args.what](Scorer(args.weights))


if __name__ == "__main__":
    main()
