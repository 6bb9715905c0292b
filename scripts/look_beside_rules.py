"""A second look at real logs, past the cleaning rules: looser patterns of another hand, to find what the rules miss.

    triagent import LOGS; triagent check --json > check.jsonl
    python look_beside_rules.py --triagent PROGRAM --found check.jsonl

Run it where the workspace is. Prints every string that a loose pattern takes for a secret or for personal data and that no finding
of the same step covers: how often, by which pattern, the string, and what stands around it. A person then says what each one is.
`docs/cleaning.md` holds what came of it.
"""

import argparse
import collections
import json
import re
import subprocess

LOOSE = {
    "email": r"[\w.+-]+@[\w-]+\.[\w.-]+",
    "credential": r"(?i)(?:password|passwd|pwd|secret|token|api[_-]?key|credential)s?[\"']?\s*(?:is|[:=])\s*[\"']?([^\s\"',}]{6,})",
    "phone": r"(?<![\w.-])\+?\(?\d{2,4}\)?[-. ]\d{3,4}[-. ]\d{4}(?![\w-])|(?<!\d)1[3-9]\d{9}(?!\d)",
    "card": r"(?<![\w.-])\d{4}[- ]?\d{4}[- ]?\d{4}[- ]?\d{4}(?![\w.-])",
    "cn-id": r"(?<!\d)\d{17}[\dXx](?!\w)",
    "ip": r"(?<![\w.])\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?![\w.])",
    "home": r"/(?:home|Users)/([A-Za-z][\w.-]+)",
    "prefix": r"\b(?:sk-|ghp_|AKIA|xox[bp]-|hf_|eyJ)[A-Za-z0-9_-]{10,}",
    "bearer": r"(?i)bearer\s+\S{12,}",
    "ssn": r"(?<![\w-])\d{3}-\d{2}-\d{4}(?![\w-])",
}


def ask(program, *args):
    out = subprocess.run([program, *args, "--json"], capture_output=True, text=True, check=False).stdout
    return [json.loads(line) for line in out.splitlines()]


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--triagent", required=True)
    p.add_argument("--found", required=True)
    a = p.parse_args()
    found = collections.defaultdict(list)
    with open(a.found, encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            place = row["place"]
            if row["kind"] in ("secret", "personal") and place["field"] == "text":
                found[place["run"], place["step"]].append((place["start"], place["end"]))
    count, around, steps, size = collections.Counter(), {}, 0, 0
    for run in ask(a.triagent, "list", "runs"):
        for shown in ask(a.triagent, "show", run["run"]):
            for step in shown["steps"]:
                text = step.get("text") or ""
                raw, steps = text.encode(), steps + 1
                size += len(raw)
                spans = found.get((run["run"], step["index"]), [])
                known = [raw[start:end].decode(errors="replace") for start, end in spans]
                for name, pattern in LOOSE.items():
                    for match in re.finditer(pattern, text):
                        words = match.group(1) if match.groups() else match.group(0)
                        if not any(words.strip(".") in k or k in words for k in known):
                            count[name, words] += 1
                            around.setdefault((name, words), text[max(0, match.start() - 50) : match.end() + 20])
    print(f"{steps} steps, {size} bytes")
    for (name, words), n in sorted(count.items()):
        print(n, name, repr(words)[:70], repr(around[name, words])[:170])


main()
