#!/usr/bin/env python3
"""Writes the figures of docs/calibration.md from assets/calibration/*.json; what people wrote around them stays.

    python3 scripts/calibration_page.py [--check]
"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "calibration.md"
BEGIN, END = "<!-- figures -->\n", "<!-- /figures -->"


def number(value, digits=3):
    return "n/a" if value is None else f"{value:.{digits}f}"


def share(value):
    return "n/a" if value is None else f"{100 * value:.1f} %"


def quality(c):
    rows = ["| | macro-F1 | right | right if it names one | names none |", "|---|---|---|---|---|"]
    for name, q in (("rules alone", c["rules"]), ("rules and probe", c["probe"])):
        rows.append(f"| {name} | {number(q['macro_f1'])} | {share(q['accuracy'])} | {share(q['right_when_named'])} | {share(q['abstention'])} |")
    gain = c["gain"]
    if gain:
        i = gain["interval"]
        rows += ["", f"Difference of macro-F1 {gain['difference']:+.3f}, 95 % interval [{i['low']:+.3f}, {i['high']:+.3f}]: paired bootstrap, {gain['draws']} draws of {gain['groups']} tasks, seed {gain['seed']}."]
    return rows


def classes(c):
    rows = ["| put in | n | F1, rules | F1, both | precision, both | recall, both |", "|---|---|---|---|---|---|"]
    alone = {x["layer"]: x for x in c["rules"]["classes"]}
    for x in c["probe"]["classes"]:
        rows.append(f"| {x['layer']} | {x['support']} | {number(alone[x['layer']]['f1'])} | {number(x['f1'])} | {number(x['precision'])} | {number(x['recall'])} |")
    return rows


def confusion(q):
    said = [x["layer"] for x in q["classes"]]
    cells = {(x["truth"], x["said"]): x["n"] for x in q["confusion"]}
    rows = ["| put in \\ said | " + " | ".join(said) + " |", "|---" * (len(said) + 1) + "|"]
    for truth in said:
        rows.append(f"| {truth} | " + " | ".join(str(cells.get((truth, s), 0)) for s in said) + " |")
    return rows


def reliability(r):
    if not r:
        return ["No layer was named often enough for a reliability table."]
    rows = ["| said | n | mean said | right |", "|---|---|---|---|"]
    for b in r["bins"]:
        rows.append(f"| {b['from']:.1f}–{b['to']:.1f} | {b['n']} | {number(b['said'])} | {number(b['right'])} |")
    return rows + ["", f"Brier score {number(r['brier'])} over {r['n']} named layers; {number(r['brier_constant'])} with one probability for all."]


def model(d):
    b = d["binding"]
    gates = lambda c: ", ".join(f"{k} {n}" for k, n in c["failed_gates"].items()) or "none"
    screen, full = d["screen"], d["full"]
    return [
        f"### {b['model']}", "",
        f"Weights `{b['weights']}`, tokenizer `{b['tokenizer']}`, template `{b['template']}`, {b['dtype']}, numerics {b['numerics']}; suite edition `{d['suite']}`, seed {d['seed']}.", "",
        f"**{'On' if d['ship'] else 'Off by default'}**: {d['verdict']}.", "",
        f"#### All {len(screen['cases'])} failures, one cell (point values, no test)", "", *quality(screen), "", *classes(screen), "",
        "Rules and probe:", "", *confusion(screen["probe"]), "",
        "Rules alone:", "", *confusion(screen["rules"]), "",
        "Probability by row, learnt on other tasks, against what was right:", "", *reliability(screen["reliability"]), "",
        f"Gates that failed first: {gates(screen)}. Not scored: {sum(1 for c in screen['cases'] if c.get('not_scored'))}.", "",
        f"#### {len(full['cases'])} failures drawn by seed, all 12 cells", "", *quality(full), "", *classes(full), "",
        f"Gates that failed first: {gates(full)}.", "",
    ]


def main():
    files = sorted((ROOT / "assets" / "calibration").glob("*.json"))
    figures = "\n".join(line for f in files for line in model(json.loads(f.read_text())))
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    new = before + BEGIN + figures + "\n" + END + after
    if "--check" in sys.argv:
        sys.exit("docs/calibration.md is stale: run scripts/calibration_page.py" if new != page else 0)
    PAGE.write_text(new)


if __name__ == "__main__":
    main()
