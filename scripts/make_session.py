"""Writes one very long agent session, to measure that import streams it.

    python scripts/make_session.py OUT.jsonl [--mib 1480] [--long-line 13000000]

Rows are Claude Code's (a question, then answers that call a tool and what the tool gave back), with words of our own drawn at
random, so that half of the texts are new and half were said before, as in logs that repeat what they read. One row in the middle is
one line of `--long-line` characters. The same arguments give the same bytes.
"""

import argparse
import json
import random

WORDS = "policy index refund order 报销 标准 document version search claim hotel limit date tool answer check file line test".split()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--mib", type=int, default=1480)
    parser.add_argument("--long-line", type=int, default=13_000_000)
    args = parser.parse_args()
    rng = random.Random(1)
    said = []

    def text(words):
        if said and rng.random() < 0.5:
            return rng.choice(said)
        new = " ".join(rng.choices(WORDS, k=words))
        if len(said) < 500:
            said.append(new)
        return new

    def row(kind, n, content, **more):
        message = {"role": kind, "content": content, **more}
        at = f"2026-01-01T{n // 3600 % 24:02}:{n // 60 % 60:02}:{n % 60:02}.000Z"
        head = {"type": kind, "uuid": f"u-{n}", "parentUuid": f"u-{n - 1}" if n else None, "sessionId": "long-session"}
        return json.dumps({**head, "timestamp": at, "cwd": "/srv/desk", "version": "2.0.0", "message": message}, ensure_ascii=False)

    size, n, is_long_due = 0, 0, True
    limit = args.mib << 20
    with open(args.out, "w", encoding="utf-8") as out:

        def write(line):
            nonlocal size, n
            out.write(line + "\n")
            size += len(line.encode()) + 1
            n += 1

        write(row("user", n, text(40)))
        while size < limit:
            call = f"toolu_{n}"
            content = [
                {"type": "text", "text": text(120)},
                {"type": "tool_use", "id": call, "name": "Read", "input": {"path": f"docs/{n % 997}.md"}},
            ]
            usage = {"input_tokens": 1200 + n % 300, "output_tokens": 80}
            write(row("assistant", n, content, id=f"msg_{n}", model="desk-7b", usage=usage))
            result = text(900)
            if is_long_due and size > limit // 2:
                result, is_long_due = "x" * args.long_line, False
            write(row("user", n, [{"type": "tool_result", "tool_use_id": call, "content": result}]))
    print(json.dumps({"rows": n, "bytes": size}))


main()
