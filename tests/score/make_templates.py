"""Renders chat templates with transformers and records the text, for tests/score/templates.

    python make_templates.py templates.json.gz [NAME…]        # names of TRL's chat_templates; none = all

Every case is what `apply_chat_template` does before tokenising: null fields dropped, reasoning under both
names, then `render_jinja_template`. The clock is held at 2026-11-29 10:00. A template that raises is recorded
as an error. TRL's template files are Apache-2.0 like TRL itself.
"""

import datetime
import gzip
import json
import pathlib
import sys

import transformers
import trl
from transformers.utils import chat_template_utils as ct


class Clock(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls(2026, 11, 29, 10, 0, 0)


ct.datetime = Clock
SPECIAL = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}


def fn(name, description, properties, **more):
    parameters = {"type": "object", "properties": properties, "required": list(properties), **more}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


TOOLS = [
    fn("search", "Look up the <policy> & its 'date'; \"exact\" or not.", {"query": {"type": "string", "description": "words"}}),
    fn(
        "refund",
        "Refund an order.",
        {
            "order": {"type": "string", "description": "id\nof the order"},
            "amount": {"type": "number", "default": 1e-7},
            "reason": {"type": "string", "enum": ["damaged", "late", "其他"]},
            "items": {"type": "array", "items": {"type": "object", "properties": {"sku": {"type": ["string", "null"]}}}},
            "notify": {"type": "boolean", "default": True},
            "when": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
        },
        additionalProperties=False,
    ),
    fn("ping", "No arguments.", {}),
]


def text(role, content, **more):
    return {"role": role, "content": content, **more}


def call(*calls, content=None, **more):
    made = [
        {"id": f"call{i:05d}", "type": "function", "function": {"name": name, "arguments": args}}
        for i, (name, args) in enumerate(calls)
    ]
    return {"role": "assistant", "content": content, "tool_calls": made, **more}


def result(content, i=0, name="search"):
    return {"role": "tool", "name": name, "content": content, "tool_call_id": f"call{i:05d}"}


SYSTEM, USER = text("system", "You are an agent.\nBe exact."), text("user", "Where is the refund policy? 退款政策在哪里？")
ODD = {
    "order": "A-1 \"x\" <b>&'\\ \t é 😀",
    "amount": 19.90,
    "big": 12345678901234567,
    "tiny": 1.5e-05,
    "huge": 1e22,
    "round": 3.0,
    "neg": -0.5,
    "yes": True,
    "none": None,
    "items": [{"sku": "a"}, {"sku": None}, []],
    "empty": {},
    "ctl": "\u0007\u007f\u2028",
}
SEARCH = ("search", {"query": "refund policy"})
CONVERSATIONS = {
    "hello": ([text("user", "hi"), text("assistant", "hello")], None),
    "waits": ([USER], None),
    "system-turns": ([SYSTEM, USER, text("assistant", "30 days."), text("user", " sure?  "), text("assistant", "Yes.\n")], None),
    "tools-waits": ([SYSTEM, USER], TOOLS),
    "tools-no-system": ([USER], TOOLS),
    "call": ([SYSTEM, USER, call(SEARCH)], TOOLS),
    "call-result-answer": ([SYSTEM, USER, call(SEARCH), result("policy v2 — 30 days"), text("assistant", "30 days (v2).")], TOOLS),
    "call-with-text": ([USER, call(SEARCH, content="Let me look.\n"), result("{\"doc\": 1}"), text("assistant", "ok")], TOOLS),
    "two-calls": ([USER, call(SEARCH, ("ping", {})), result("a"), result("b", 1, "ping")], TOOLS),
    "odd-arguments": ([USER, call(("refund", ODD))], TOOLS),
    "string-arguments": ([USER, call(("search", '{"query": "x"}'))], TOOLS),
    "empty-content": ([USER, call(SEARCH, content=""), result("")], TOOLS),
    "reasoning": ([USER, text("assistant", "42", reasoning_content="think\nhard"), text("user", "more"), call(SEARCH, reasoning_content="look it up")], TOOLS),
    "think-tags": ([USER, text("assistant", "<think>\nold\n</think>\n\nnew"), text("user", "go on"), text("assistant", "<think>\nx\n</think>\n\ny")], None),
    "long-loop": ([SYSTEM, USER] + [m for i in range(3) for m in (call(SEARCH), result(f"r{i}"))] + [text("assistant", "done")], TOOLS),
    "developer": ([text("developer", "Rules."), USER], TOOLS),
    "late-system": ([USER, text("assistant", "a"), text("system", "Reminder."), text("user", "b")], None),
}


def render(source, messages, tools, prompt):
    messages = ct._normalize_chat_messages(messages)
    (out,), (spans,) = ct.render_jinja_template(
        conversations=[messages],
        tools=tools,
        chat_template=source,
        return_assistant_tokens_mask=True,
        add_generation_prompt=prompt,
        **SPECIAL,
    )
    return out, spans


def case(source, name, messages, tools, prompt):
    made = {"case": name, "prompt": prompt}
    try:
        made["text"], spans = render(source, messages, tools, prompt)
        made["generated"] = [[len(made["text"][:a].encode()), len(made["text"][:b].encode())] for a, b in spans]
    except Exception as e:  # noqa: BLE001
        made["error"] = f"{type(e).__name__}: {e}"
    return made


def main():
    out, *names = sys.argv[1:]
    folder = pathlib.Path(trl.__file__).parent / "chat_templates"
    files = sorted(folder.glob("*.jinja")) if not names else [folder / f"{n}.jinja" for n in names]
    report = {
        "made_by": "tests/score/make_templates.py",
        "versions": {m.__name__: m.__version__ for m in (transformers, trl)},
        "special": SPECIAL,
        "now_us": int(datetime.datetime(2026, 11, 29, 10, tzinfo=datetime.timezone.utc).timestamp() * 1e6),
        "conversations": {k: {"messages": m, "tools": t or []} for k, (m, t) in CONVERSATIONS.items()},
        "templates": [],
    }
    for file in files:
        source = file.read_text(encoding="utf-8")
        cases = [case(source, k, m, t, p) for k, (m, t) in CONVERSATIONS.items() for p in (False, True)]
        report["templates"].append({"name": file.stem, "source": source, "cases": cases})
    packed = gzip.compress(json.dumps(report, ensure_ascii=False, indent=0).encode(), mtime=0)
    pathlib.Path(out).write_bytes(packed)


main()
