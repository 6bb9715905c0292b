"""Feeds every TRL export under ROOT/sets to TRL's own trainers, all in one process, and keeps their reports.

    python consume_trl.py --consume DIR --root ROOT --model DIR [--other DIR] [--steps 1]

ROOT/sets holds one folder a workspace, each with one folder a format, as `triagent export FORMAT --out …` leaves them.
DIR of --consume holds dpo.py, sft.py, kto.py, grpo.py and make_tiny_model.py. The reference policy of DPO is made there
unless --other names one. Reports go to ROOT/reports/WORKSPACE/FORMAT.json; one line a report goes to stdout.
"""

import argparse
import contextlib
import io
import json
import pathlib
import runpy
import sys
import time

# Format folder, consumer script, more arguments.
TRAINERS = [
    ("trl-sft", "sft.py", []),
    ("trl-sft-messages", "sft.py", ["--assistant-only"]),
    ("trl-dpo", "dpo.py", ["--ref"]),
    ("trl-kto", "kto.py", []),
    ("trl-grpo", "grpo.py", []),
]


def run(consume, script, arguments):
    """Runs a consumer script as a program would; returns what it printed."""
    said, errors = io.StringIO(), io.StringIO()
    sys.argv = [script, *arguments]
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(errors):
            runpy.run_path(str(consume / script), run_name="__main__")
    except SystemExit:
        # The script has said in its report what went wrong.
        pass
    return said.getvalue(), errors.getvalue()


def last_report(text):
    """The JSON object at the end of what was printed; trainers talk before it."""
    start = text.find('{\n "consumer"')
    if start < 0:
        return {"ok": False, "error": "no report", "message": text[-500:]}
    return json.loads(text[start:])


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--consume", required=True, type=pathlib.Path)
    p.add_argument("--root", required=True, type=pathlib.Path)
    p.add_argument("--model", required=True)
    p.add_argument("--other")
    p.add_argument("--steps", default="1")
    a = p.parse_args()
    sys.path.insert(0, str(a.consume))
    other = a.other or str(a.root / "other")
    if not a.other:
        run(a.consume, "make_tiny_model.py", ["--out", other, "--seed", "7"])
    failed = 0
    for workspace in sorted((a.root / "sets").iterdir()):
        for format, script, more in TRAINERS:
            data = workspace / format / "train.jsonl"
            if not data.is_file() or data.stat().st_size == 0:
                continue
            more = [*more, other] if more == ["--ref"] else more
            began = time.time()
            arguments = ["--data", str(data), "--model", a.model, "--steps", a.steps, *more]
            said, errors = run(a.consume, script, arguments)
            report = last_report(said)
            if not report.get("ok"):
                report["stderr"] = errors[-2000:]
            out = a.root / "reports" / workspace.name / f"{format}.json"
            out.parent.mkdir(parents=True, exist_ok=True)
            out.write_text(json.dumps(report, ensure_ascii=False))
            info, failed = report.get("data", {}), failed + (not report.get("ok"))
            losses = [round(s["loss"], 6) for s in report.get("steps") or report.get("log") or []]
            line = {
                "workspace": workspace.name, "format": format, "ok": report.get("ok"), "rows": info.get("rows"),
                "changed": info.get("rows_changed_by_reader"), "dropped": report.get("rows_dropped_by_trainer"),
                "loss": losses, "seconds": round(time.time() - began, 1), "message": report.get("message"),
            }  # fmt: skip
            print(json.dumps({k: v for k, v in line.items() if v is not None}), flush=True)
    sys.exit(1 if failed else 0)


main()
