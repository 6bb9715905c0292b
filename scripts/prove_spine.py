"""The two halves of prove_spine.sh: `walk` drives triagent as a script would, `compare` holds TRL's numbers against ours.

Standard library only. Decisions come from tests/data/spine/plan.json; see there where they come from.
"""

import argparse
import json
import pathlib
import subprocess
import sys

PLAN = json.loads((pathlib.Path(__file__).parent.parent / "tests/data/spine/plan.json").read_text())
# What two F32 sums over hundreds of tokens may differ by.
TOLERANCE = 1e-3


class Desk:
    """A folder with a workspace, and the program."""

    def __init__(self, program, folder):
        self.program, self.folder = str(pathlib.Path(program).resolve()), folder

    def __call__(self, *args, stdin=None, codes=(0,)):
        ran = subprocess.run(
            [self.program, *args], cwd=self.folder, input=stdin, capture_output=True, text=True, check=False
        )
        if ran.returncode not in codes:
            sys.exit(f"triagent {' '.join(args)}: exit code {ran.returncode}\n{ran.stdout}{ran.stderr}")
        return [json.loads(line) for line in ran.stdout.splitlines()] if "--json" in args else ran.stdout


def nth_call(steps, tool, nth):
    calls = [s["index"] for s in steps if s["owner"] == "model" and s["kind"] == "tool_call" and s["tool"] == tool]
    return calls[nth]


def walk(args):
    work = pathlib.Path(args.work)
    desk = Desk(args.triagent, work)
    source = str(pathlib.Path(args.logs, "tau-bench/retail-failed-29.json").resolve())
    (report,) = desk("import", source, "--json")
    assert (report["read"], report["stored"], report["skips"]) == (29, 29, 0), report
    runs = {row["task"]: row["run"] for row in desk("list", "runs", "--json")}
    for label in PLAN["labels"]:
        run = runs[label["task"]]
        extra = ["--check", "all"] if label["layer"] == "model" else []
        desk("label", run, "--layer", label["layer"], "--note", label["note"], "--reviewer", "spine", *extra)
    for pair in PLAN["pairs"]:
        run = runs[pair["task"]]
        (shown,) = desk("show", run, "--json")
        step = nth_call(shown["steps"], pair["tool"], pair["nth"])
        desk(
            "pair", "@-", f"{run}:{step}", "--prefer", "a", "--criterion", pair["criterion"], "--reason", pair["reason"],
            "--standard", PLAN["standard"], "--reviewer", "spine", stdin=json.dumps(pair["chosen"]),
        )  # fmt: skip
    desk("check", "--redact", "secret,personal", "--keep", "duplicate,template", "--reviewer", "spine")
    desk("advise", "--json")
    for format in ("trl-dpo", "trl-sft"):
        (manifest,) = desk("export", format, "--out", f"out/{format}", "--reference", "tiny", "--json")
        print(format, manifest["rows"], "left out:", manifest["left_out_by_reason"])
    scores = desk("score", "--pairs", "--model", "tiny", "--device", "cpu", "--json", codes=(0,))
    (work / "scores.json").write_text(json.dumps(scores))


def trainer_report(path):
    """The trainers' report is one JSON object; what a library prints before it is not ours to forbid."""
    text = path.read_text()
    return json.loads(text[text.index("{") :])


def compare(args):
    work = pathlib.Path(args.work)
    scores = {(s["pair"], s["side"]): s for s in json.loads((work / "scores.json").read_text())}
    rows = [json.loads(line) for line in (work / "out/trl-dpo/train.jsonl").read_text().splitlines()]
    dpo, sft = (trainer_report(work / f"{name}.json") for name in ("dpo", "sft"))
    for name, report in (("dpo", dpo), ("sft", sft)):
        assert report.get("ok", True), report
        assert report["data"]["rows_changed_by_reader"] == [], (name, report["data"])
        assert not report["rows_dropped_by_trainer"], (name, report["rows_dropped_by_trainer"])
    assert dpo["rows_cut"] == 0, dpo["rows_cut"]
    assert len(rows) == len(dpo["pairs"]) >= 5, (len(rows), len(dpo["pairs"]))
    worst, record = 0.0, []
    for row, pair in zip(rows, dpo["pairs"]):
        ours = [scores[row["id"], side]["logp_sum_trl"] for side in ("a", "b")]
        worst = max(worst, *(abs(o - t) for o, t in zip(ours, pair["trainer_logps"])))
        record.append({"task": row["task_id"], "trainer_logps": pair["trainer_logps"], "prompt_tokens": pair["prompt_tokens"]})
    # A supervised row is the chosen side of its pair; the other trainer must see the same number there.
    demonstrations = [json.loads(line) for line in (work / "out/trl-sft/train.jsonl").read_text().splitlines()]
    assert len(demonstrations) == len(sft["examples"]) >= 5, len(sft["examples"])
    for row, example in zip(demonstrations, sft["examples"]):
        worst = max(worst, abs(scores[row["pair"], "a"]["logp_sum_trl"] - example["logp_sum"]))
    print(f"{len(rows)} pairs, {len(demonstrations)} supervised rows; largest difference {worst:.2e} nats")
    assert worst < TOLERANCE, worst
    if args.record:
        how = "scripts/prove_spine.sh: TRL's DPOTrainer (consume/dpo.py) on make_tiny_model.py's seed 0, F32 on CPU"
        pathlib.Path(args.record).write_text(json.dumps({"how": how, "pairs": record}, indent=1) + "\n")


parser = argparse.ArgumentParser()
verbs = parser.add_subparsers(required=True)
one = verbs.add_parser("walk")
one.add_argument("--triagent", required=True)
one.add_argument("--logs", required=True)
one.add_argument("--work", required=True)
one.set_defaults(run=walk)
two = verbs.add_parser("compare")
two.add_argument("--work", required=True)
two.add_argument("--record")
two.set_defaults(run=compare)
arguments = parser.parse_args()
arguments.run(arguments)
