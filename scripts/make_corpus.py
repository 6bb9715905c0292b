#!/usr/bin/env python3
"""Makes a large mixed corpus of JSONL logs out of a folder of real ones, for measuring import.

    scripts/make_corpus.py REAL_LOGS OUT [--mib 1024] [--seed 1]

Rows of real .jsonl files are copied again and again with changed ids and replaced words, so that formats and shapes stay
real and at least half of all text is unique; every second copy of a row keeps its long texts, as prompts repeat in real logs.
"""

import argparse
import json
import pathlib
import random
import re

WORD = re.compile(r"[A-Za-z]{4,}|[\u4e00-\u9fff]")
ID_KEYS = re.compile(r"(^|_)(id|ids|uuid|hash|key)$|Id$|Uuid$", re.I)
FOLDERS = [
    "openai-chat-jsonl", "nemo-gym-rollouts", "verifiers-results", "sharegpt", "agent-lightning-1",
    "openhands-output-jsonl", "codex-rollout", "claude-code", "langsmith-runs", "openinference", "pi-session",
]
PART_BYTES = 64 << 20
# One file is one session there, so these stay many small files, as on a real disk.
SESSIONS = ("codex-rollout", "claude-code", "pi-session")
MAX_SESSIONS = 1500


class Copier:
    def __init__(self, seed):
        self.random = random.Random(seed)
        letters = "abcdefghijklmnopqrstuvwxyz"
        self.words = ["".join(self.random.choices(letters, k=self.random.randint(4, 9))) for _ in range(20000)]
        self.han = [chr(self.random.randint(0x4E00, 0x9FFF)) for _ in range(2000)]

    def word(self, match):
        if self.random.random() < 0.35:
            return match.group()
        return self.random.choice(self.words if match.group()[0].isascii() else self.han)

    def value(self, key, value, copy, fresh):
        if isinstance(value, dict):
            return {k: self.value(k, v, copy, fresh) for k, v in value.items()}
        if isinstance(value, list):
            return [self.value(key, v, copy, fresh) for v in value]
        if isinstance(value, str):
            if ID_KEYS.search(key) and 0 < len(value) <= 80:
                return f"{value}-{copy}"
            # Texts only: role, type and tool names have no blank and stay, or nothing could be recognised.
            if fresh and len(value) > 24 and " " in value:
                return WORD.sub(self.word, value)
        if isinstance(value, int) and ID_KEYS.search(key) and not isinstance(value, bool):
            return value + copy * 100000
        return value


def rows(real):
    for folder in FOLDERS:
        for path in sorted((real / folder).rglob("*.jsonl")):
            lines = []
            for line in path.read_text(encoding="utf-8", errors="surrogatepass").splitlines():
                try:
                    lines.append(json.loads(line))
                except ValueError:
                    continue
            if lines:
                yield folder, path.stem, lines


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("real", type=pathlib.Path)
    p.add_argument("out", type=pathlib.Path)
    p.add_argument("--mib", type=int, default=1024)
    p.add_argument("--seed", type=int, default=1)
    a = p.parse_args()
    a.out.mkdir(parents=True, exist_ok=True)
    copier = Copier(a.seed)
    files = list(rows(a.real))
    each = (a.mib << 20) // sum(folder not in SESSIONS for folder, _, _ in files)
    for folder, stem, lines in files:
        written = part = copy = 0
        out = None
        while written < each and not (folder in SESSIONS and part >= MAX_SESSIONS // 6):
            # One file a few copies, since a session file is one session; big ones up to the part size.
            if out is None or out.tell() > PART_BYTES or folder in SESSIONS:
                out = out and out.close() or open(a.out / f"{folder}-{stem[:40]}-{part:04}.jsonl", "w", encoding="utf-8")
                part += 1
            copy += 1
            for line in lines:
                text = json.dumps(copier.value("", line, copy, fresh=copy % 4 != 0), ensure_ascii=False)
                out.write(text.encode("utf-8", "replace").decode() + "\n")
                written += len(text)
        out.close()
    total = sum(f.stat().st_size for f in a.out.iterdir())
    print(json.dumps({"files": len(list(a.out.iterdir())), "bytes": total}))


if __name__ == "__main__":
    main()
