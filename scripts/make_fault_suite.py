#!/usr/bin/env python3
"""Writes assets/fault-suite/: failed decisions whose cause is known because it was put in.

120 single faults (4 layers x 2 sub-causes x 15 policy tasks) and 60 controls (20 without a fault, 20 with two, 20 of the environment or
the grader). Deterministic. Needs the `tokenizers` package and assets/proxy/tokenizer.json, to measure lengths.

    python3 scripts/make_fault_suite.py            # writes suite.jsonl, placebos.jsonl, wrappers.json
    python3 scripts/make_fault_suite.py --check    # exits 1 when they differ from what would be written
"""

import argparse
import json
import random
import sys
from pathlib import Path

import fault_texts as F

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "assets" / "fault-suite"
SEED = 77
PLACEBOS_PER_CASE = 36
VERSIONS = {"harness": {"name": "counter", "version": "2", "stop_rule": "final answer", "compression": "none"},
            "prompt_version": "p1", "toolset_version": "t1", "checkpoint": "unknown", "tokenizer": "unknown"}
VERIFIER = {"grader": "evidence-check", "version": "1", "isolated": True, "side_effects": [], "cost": 0.0, "status": "ok"}


def load_tokenizer():
    from tokenizers import Tokenizer
    return Tokenizer.from_file(str(ROOT / "assets" / "proxy" / "tokenizer.json"))


# --- one task with its numbers --------------------------------------------------------------------------------------------

class Rule:
    """A task with drawn numbers, versions and dates: two versions of one document and what follows from them."""

    def __init__(self, rng, lang, row):
        self.rng, self.lang = rng, lang
        self.key, self.id, self.title, self.system, self.groups, self.ask, self.words = row
        numbers = rng.sample(range(12, 97), 4)
        self.numbers = {"old": numbers[:2], "new": numbers[2:]}
        a, b = rng.sample("bcdfghjkmnpqrstwxz", 2)
        self.ver = {"old": f"{a}{rng.randint(1, 9)}", "new": f"{b}{rng.randint(1, 9)}"}
        year, month = rng.randint(2019, 2027), rng.randint(2, 11)
        self.change = f"{year}-{month:02d}-01"
        self.start = f"{year - 2}-{rng.randint(1, 12):02d}-01"
        self.stop = f"{year}-{month - 1:02d}-28"
        self.day = f"{year}-{month + 1:02d}-{rng.randint(10, 28)}"
        self.tail = rng.choice(F.LAYOUT[lang][3])
        self.say = rng.choice(F.ANSWER[lang])

    def glue(self, parts):
        return (" " if self.lang == "en" else "").join(p for p in parts if p)

    def clause(self, which, group):
        return self.groups[group][1].format(n=self.numbers[which][group])

    def stop_mark(self):
        return "." if self.lang == "en" else "。"

    def validity(self, which):
        _, ended, going, _ = F.LAYOUT[self.lang]
        return ended.format(f=self.start, u=self.stop) if which == "old" else going.format(f=self.change)

    def head(self, which):
        return F.LAYOUT[self.lang][0].format(id=self.id, ver=self.ver[which], title=self.title)

    def text(self, which, validity=None, cut=False):
        """The document; `cut` ends it after the first clause, `validity` replaces its dates."""
        first = self.clause(which, 0) + self.stop_mark()
        rest = F.CUT[self.lang] if cut else self.clause(which, 1) + self.stop_mark()
        dates = self.validity(which) if validity is None else validity
        return self.glue([self.head(which), dates, first, rest, "" if cut else self.tail])

    def question(self, group):
        return self.ask.format(g=self.groups[group][0], d=self.day)

    def answer(self, which, group, said_of=None, form=None):
        """`said_of`: the group that the sentence names, where it takes over the other group's number."""
        clause = self.groups[group if said_of is None else said_of][1].format(n=self.numbers[which][group])
        return (form or self.say).format(c=clause, id=self.id, ver=self.ver[which])

    def register(self, new_indexed):
        for which in ("old", "new"):
            yield {"doc_id": self.id, "version": self.ver[which], "title": self.title, "text": self.text(which),
                   "valid_from": self.start if which == "old" else self.change,
                   "valid_until": self.stop if which == "old" else None,
                   "indexed_in": ["ix-1", "ix-2"] if which == "old" or new_indexed else ["ix-2"]}

    def requirement(self, group):
        return {"doc_id": self.id, "version": self.ver["new"], "spans": [self.clause("new", group)],
                "conditions": [self.validity("new")]}


def search_tool(lang):
    name, about, arg, text = F.SEARCH[lang]
    return tool(name, about, arg, text)


def tool(name, about, arg, text):
    return {"type": "function", "function": {"name": name, "description": about, "parameters": {
        "type": "object", "properties": {arg: {"type": "string", "description": text}}, "required": [arg]}}}


# --- one record ---------------------------------------------------------------------------------------------------------------

class Case:
    """A run up to and including the decision that failed, and what is needed to probe it."""

    def __init__(self, rule, cause, tools=None, new_indexed=True):
        self.rule, self.cause, self.lang = rule, cause, rule.lang
        self.tools = tools or [search_tool(rule.lang)]
        self.register = list(rule.register(new_indexed))
        self.messages = [{"role": "system", "content": rule.system}]
        self.notes = [None]  # beside each message: what only the log knows (documents brought, status)
        self.variants, self.extra = {}, {}
        self.requires = []

    def add(self, message, **note):
        self.messages.append(message)
        self.notes.append(note or None)
        return self

    def user(self, text):
        return self.add({"role": "user", "content": text})

    def call(self, name, arguments):
        return self.add(called(name, arguments, len(self.messages)))

    def result(self, text, documents=(), status="ok"):
        call_id = self.messages[-1]["tool_calls"][0]["id"]
        return self.add({"role": "tool", "tool_call_id": call_id, "content": text}, status=status,
                        documents=[{"doc_id": d, "version": v} for d, v in documents])

    def searched(self, words, texts, documents):
        name, _, arg, _ = F.SEARCH[self.lang]
        return self.call(name, {arg: words}).result("\n".join(texts), documents)

    def record(self, case_id, labels, accept, wrong, right, outcome="fail", rewards=None, statuses=(), others=()):
        decision = len(self.messages)
        wrong, right = as_message(wrong, decision), as_message(right, decision)
        task = {"task_id": f"task-{case_id}", "family": self.rule.key, "scenario": "counter",
                "prompt": self.messages[1]["content"], "date": self.rule.day, "requires": self.requires,
                "expected": {"action": right}, "standard": {"version": "counter-1", "criteria": [
                    "citation-valid", "conditions-complete"], "smoother_alone": False},
                "grader": {"name": "evidence-check", "version": "1"}, "tools": self.tools}
        return {"id": case_id, "lang": self.lang, "task_key": self.rule.key, "cause": self.cause,
                "truth": {"labels": labels, "accept": accept}, "task": task, "documents": self.register,
                "run": self.trajectory(case_id, task, wrong, outcome, rewards),
                "prompt": {"messages": self.messages, "tools": self.tools},
                "recorded": wrong, "corrected": [right, *(as_message(o, decision) for o in others)],
                "evidence_status": list(statuses), "variants": self.variants}

    def trajectory(self, case_id, task, wrong, outcome, rewards):
        steps = []
        for message, note in zip(self.messages + [wrong], self.notes + [None]):
            if message["role"] == "tool":
                last = steps[-1]
                last["observation"] = {"results": [{"source_call_id": message["tool_call_id"], "content": message["content"]}]}
                last["extra"] = {"triagent": note}
                continue
            step = {"step_id": len(steps) + 1, "source": {"assistant": "agent"}.get(message["role"], message["role"]),
                    "message": message["content"] or ""}
            for c in message.get("tool_calls") or []:
                step["tool_calls"] = [{"tool_call_id": c["id"], "function_name": c["function"]["name"],
                                       "arguments": c["function"]["arguments"]}]
            steps.append(step)
        if wrong.get("tool_calls"):
            call_id = wrong["tool_calls"][0]["id"]
            steps[-1]["observation"] = {"results": [{"source_call_id": call_id, "content": F.DONE[self.lang]}]}
            steps[-1]["extra"] = {"triagent": {"status": "ok"}}
        value = 1.0 if outcome == "pass" else 0.0
        return {"schema_version": "ATIF-v1.7", "session_id": case_id, "trajectory_id": case_id,
                "agent": {"name": "counter", "version": "2", "model_name": "unknown", "tool_definitions": self.tools},
                "steps": steps, "extra": {"triagent": {
                    "task_id": task["task_id"], "rollout_id": case_id, "family": self.rule.key, **VERSIONS,
                    "index_version": "ix-1", "outcome": outcome,
                    "rewards": rewards or [{**VERIFIER, "result": value, "evidence": value}]}}}


def called(name, arguments, at):
    return {"role": "assistant", "content": None, "tool_calls": [
        {"id": f"c{at}", "type": "function", "function": {"name": name, "arguments": arguments}}]}


def as_message(action, at):
    if isinstance(action, str):
        return {"role": "assistant", "content": action}
    return called(*action, at)


def plain(action):
    """An action in words, for the oracle hint."""
    return action if isinstance(action, str) else f"{action[0]} {json.dumps(action[1], ensure_ascii=False)}"


def oracle(case, right):
    case.variants["O"] = {"op": "insert_document", "text": F.ORACLE[case.lang].format(a=plain(right))}


# --- single faults -----------------------------------------------------------------------------------------------------------

def index_fault(rule, cause, group=0):
    """The new version is not in the index (stale), or it is and the search brought something else beside the old one."""
    case = Case(rule, cause, new_indexed=cause == "not_retrieved")
    case.user(rule.question(group)).searched(rule.words, [rule.text("old")], [(rule.id, rule.ver["old"])])
    case.requires = [rule.requirement(group)]
    wrong, right = rule.answer("old", group), rule.answer("new", group)
    case.variants["E"] = {"op": "insert_document", "text": rule.text("new"), "doc_id": rule.id, "version": rule.ver["new"]}
    oracle(case, right)
    status = "stale only" if cause == "not_indexed" else "not retrieved"
    return case, wrong, right, [status]


def date_dropped(rule, group=0):
    """Both versions came back, but a shortener kept only when the old one began."""
    case = Case(rule, "date_dropped")
    began = F.LAYOUT[rule.lang][2].format(f=rule.start)
    texts = {"old": rule.text("old", validity=began), "new": rule.text("new", validity="")}
    order = ["old", "new"] if rule.rng.random() < 0.5 else ["new", "old"]
    case.user(rule.question(group)).searched(rule.words, [texts[w] for w in order], [(rule.id, rule.ver[w]) for w in order])
    case.requires = [rule.requirement(group)]
    wrong, right = rule.answer("old", group), rule.answer("new", group)
    case.variants["C"] = {"op": "replace_text", "message": 3, "edits": [
        {"find": texts[w], "put": rule.text(w)} for w in order]}
    oracle(case, right)
    return case, wrong, right, ["not in prompt"]


def truncated(rule, group=1):
    """The valid version came back, cut off before the clause of the group that asks."""
    case = Case(rule, "truncated")
    cut = rule.text("new", cut=True)
    case.user(rule.question(group)).searched(rule.words, [cut], [(rule.id, rule.ver["new"])])
    case.requires = [rule.requirement(group)]
    wrong, right = rule.answer("new", 0, said_of=group), rule.answer("new", group)
    case.variants["C"] = {"op": "replace_text", "message": 3, "edits": [{"find": cut, "put": rule.text("new")}]}
    oracle(case, right)
    return case, wrong, right, ["not in prompt"]


def tool_fault(rule, cause, cut=False):
    """Evidence is in view and was used; then the request for an act meets a blurred description."""
    (request, name, clear, blurred, other, other_text, third, third_text, third_again, arg, arg_clear, arg_blurred) = F.TOOLS[rule.key]
    rng, group = rule.rng, 1
    code, num = f"{rng.choice('BCDFGHKLMN')}-{rng.randint(120, 980)}", str(rng.randint(20000, 98000))
    vague_name, vague_arg = cause == "vague_text", cause == "vague_argument"
    tools = [tool(name, blurred if vague_name else clear, arg, arg_blurred if vague_arg else arg_clear),
             tool(other, other_text, arg, arg_blurred if vague_arg else arg_clear), tool(third, third_text, arg, arg_clear)]
    rng.shuffle(tools)
    case = Case(rule, cause, [search_tool(rule.lang), *tools])
    case.user(rule.question(group)).searched(rule.words, [rule.text("new")], [(rule.id, rule.ver["new"])])
    case.add({"role": "assistant", "content": rule.answer("new", group)}).user(request.format(code=code, num=num))
    case.requires = [rule.requirement(group)]
    right = (name, {arg: code})
    wrong = (other, {arg: num}) if vague_name else (name, {arg: num})
    edits = [{"tool": name, "description": clear, "arguments": {arg: arg_clear}}]
    if vague_arg:
        edits.append({"tool": other, "description": other_text, "arguments": {arg: arg_clear}})
    case.variants["T"] = {"op": "replace_tool", "edits": edits}
    case.variants["TP"] = {"op": "replace_tool", "edits": [{"tool": third, "description": third_again, "arguments": {arg: arg_clear}}]}
    oracle(case, right)
    return case, wrong, right, ["in prompt"]


def model_fault(rule, cause):
    """All of it is in view; the answer takes the other group's clause, or the version that ended."""
    group = 1 if cause == "ignores_condition" else rule.rng.randrange(2)
    case = Case(rule, cause)
    order = ["new"] if cause == "ignores_condition" else rule.rng.choice((["old", "new"], ["new", "old"]))
    case.user(rule.question(group)).searched(rule.words, [rule.text(w) for w in order], [(rule.id, rule.ver[w]) for w in order])
    case.requires = [rule.requirement(group)]
    right = rule.answer("new", group)
    wrong = rule.answer("new", 0, said_of=1) if cause == "ignores_condition" else rule.answer("old", group)
    case.variants["-E"] = {"op": "remove_text", "message": 3, "text": rule.text("new")}
    oracle(case, right)
    return case, wrong, right, ["in prompt"]


SINGLE = [("index", "not_indexed", lambda r: index_fault(r, "not_indexed")),
          ("index", "not_retrieved", lambda r: index_fault(r, "not_retrieved", r.rng.randrange(2))),
          ("context", "date_dropped", date_dropped), ("context", "truncated", truncated),
          ("tool", "vague_text", lambda r: tool_fault(r, "vague_text")),
          ("tool", "vague_argument", lambda r: tool_fault(r, "vague_argument")),
          ("model", "ignores_condition", lambda r: model_fault(r, "ignores_condition")),
          ("model", "old_version", lambda r: model_fault(r, "old_version"))]


# --- controls -----------------------------------------------------------------------------------------------------------------

def healthy(rule, number):
    """The recorded action is right; the other form says the same in other words."""
    case, _, right, status = model_fault(rule, ("ignores_condition", "old_version")[number % 2])
    case.cause = "none"
    group = next(g for g in (0, 1) if rule.answer("new", g) == right)
    again = rule.answer("new", group, form=F.OTHERWISE[rule.lang])
    return case, right, again, status


def two_missing(rule, other):
    """Two documents are needed: one was never brought, the other lost its second clause."""
    case = Case(rule, "index+context")
    case.register += list(other.register(True))
    other.day = rule.day
    case.user(F.BOTH[rule.lang].format(a=rule.question(1), b=other.question(1)))
    cut = other.text("new", cut=True)
    case.searched(rule.words, [rule.text("old"), cut], [(rule.id, rule.ver["old"]), (other.id, other.ver["new"])])
    case.requires = [rule.requirement(1), other.requirement(1)]
    wrong = rule.glue([rule.answer("old", 1), other.answer("new", 0, said_of=1)])
    right = rule.glue([rule.answer("new", 1), other.answer("new", 1)])
    case.variants["E"] = {"op": "insert_document", "text": rule.text("new"), "doc_id": rule.id, "version": rule.ver["new"]}
    case.variants["C"] = {"op": "replace_text", "message": 3, "edits": [{"find": cut, "put": other.text("new")}]}
    oracle(case, right)
    return case, wrong, right, ["not retrieved", "not in prompt"]


def tool_and_context(rule):
    """The tool text is blurred, and the clause that belongs into the tool was cut off the document."""
    ask, clear, misleading = F.ENTER[rule.lang]
    (_, name, _, blurred, other, _, third, third_text, third_again, arg, _, _) = F.TOOLS[rule.key]
    texts = {name: blurred, other: misleading, third: third_text}
    outcome = {"en": "outcome", "zh": "结果"}[rule.lang]
    tools = [tool(n, about, arg, outcome) for n, about in texts.items()]
    rule.rng.shuffle(tools)
    case = Case(rule, "tool+context", [search_tool(rule.lang), *tools])
    cut = rule.text("new", cut=True)
    case.user(ask.format(q=rule.question(1))).searched(rule.words, [cut], [(rule.id, rule.ver["new"])])
    case.requires = [rule.requirement(1)]
    right = (name, {arg: rule.clause("new", 1)})
    wrong = (other, {arg: rule.groups[1][1].format(n=rule.numbers["new"][0])})
    case.variants["T"] = {"op": "replace_tool", "edits": [
        {"tool": name, "description": clear.format(title=rule.title), "arguments": {arg: outcome}}]}
    case.variants["TP"] = {"op": "replace_tool", "edits": [{"tool": third, "description": third_again, "arguments": {arg: outcome}}]}
    case.variants["C"] = {"op": "replace_text", "message": 3, "edits": [{"find": cut, "put": rule.text("new")}]}
    oracle(case, right)
    return case, wrong, right, ["not in prompt"]


def environment(rule, number):
    """The search failed at the decisive step, and the answer was made up."""
    case = Case(rule, ("timeout", "error", "denied")[number % 3])
    group = number % 2
    status, text = F.FAILED[rule.lang][number % 3]
    name, _, arg, _ = F.SEARCH[rule.lang]
    case.user(rule.question(group)).call(name, {arg: rule.words}).result(text, [], status)
    case.requires = [rule.requirement(group)]
    wrong, right = rule.answer("old", group), rule.answer("new", group)
    case.variants["E"] = {"op": "insert_document", "text": rule.text("new"), "doc_id": rule.id, "version": rule.ver["new"]}
    oracle(case, right)
    return case, wrong, right, ["not retrieved"]


def grader(rule, number):
    """The answer is right, and a rule that wants other words gave it nothing."""
    case, right, again, status = healthy(rule, number)
    case.cause = "grader_wants_other_words"
    naive = {**VERIFIER, "grader": "same-words", "version": "0", "isolated": False, "result": 0.0, "evidence": None}
    return case, right, again, status, [naive, {**VERIFIER, "result": 1.0, "evidence": 1.0}]


def rules(lang_rows, tag):
    """The fifteen tasks again, each with numbers of its own for this fault."""
    for lang, row in lang_rows:
        yield Rule(random.Random(f"{SEED}/{tag}/{row[0]}"), lang, row)


def cases():
    rows = [(lang, row) for lang in ("en", "zh") for row in F.TASKS[lang]]
    for layer, cause, make in SINGLE:
        for rule in rules(rows, cause):
            case, wrong, right, status = make(rule)
            yield case.record(f"{layer}-{cause}-{rule.key}".replace("_", "-"), [layer], [layer], wrong, right, statuses=status)
    for n in range(20):
        rule = next(rules([rows[n % 15]], f"none{n}"))
        case, wrong, right, status = healthy(rule, n)
        yield case.record(f"none-{n:02d}-{rule.key}", [], ["undetermined"], wrong, right, "pass", statuses=status)
    for n in range(20):
        lang = ("en", "zh")[n % 2]
        own = F.TASKS[lang]
        rule = next(rules([(lang, own[n // 2 % len(own)])], f"double{n}"))
        if n < 10:
            other = next(rules([(lang, own[(n // 2 + 3) % len(own)])], f"second{n}"))
            case, wrong, right, status = two_missing(rule, other)
        else:
            case, wrong, right, status = tool_and_context(rule)
        yield case.record(f"double-{n:02d}-{rule.key}", case.cause.split("+"), ["undetermined"], wrong, right, statuses=status)
    for n in range(10):
        rule = next(rules([rows[(3 * n) % 15]], f"environment{n}"))
        case, wrong, right, status = environment(rule, n)
        yield case.record(f"environment-{n:02d}-{rule.key}", ["environment"], ["environment"], wrong, right, statuses=status)
    for n in range(10):
        rule = next(rules([rows[(3 * n + 1) % 15]], f"grader{n}"))
        case, wrong, right, status, rewards = grader(rule, n)
        yield case.record(f"grader-{n:02d}-{rule.key}", ["grader"], ["grader"], wrong, right, rewards=rewards, statuses=status)


# --- placebos -----------------------------------------------------------------------------------------------------------------

def placebo_pool(tok):
    """Unrelated documents in the suite's layout, in many lengths."""
    pool = []
    for lang, count in (("en", 900), ("zh", 900)):
        rng, seen = random.Random(f"{SEED}/placebo/{lang}"), set()
        topics, people, duties, tails = F.PLACEBO[lang]
        head, _, going, _ = F.LAYOUT[lang]
        while len(seen) < count:
            topic = rng.choice(topics)
            ident = topic.lower().replace(" ", "-")
            parts = [head.format(id=ident, ver=f"{rng.choice('bcdfghjkmnpqrstwxz')}{rng.randint(1, 9)}", title=topic),
                     going.format(f=f"{rng.randint(2017, 2027)}-{rng.randint(1, 12):02d}-01")]
            for who in rng.sample(people, rng.randint(1, 3)):
                duty = rng.choice(duties).format(n=rng.randint(12, 96))
                parts.append(f"{who.capitalize()} {duty}." if lang == "en" else f"{who}{duty}。")
            parts += rng.sample(tails, rng.randint(0, 2))
            text = (" " if lang == "en" else "").join(parts)
            if text not in seen:
                seen.add(text)
                pool.append({"id": f"p-{lang}-{len(seen):03d}", "lang": lang, "tokens": len(tok.encode(text).ids), "text": text})
    return pool


def choose_placebos(tok, pool, record):
    """36 placebos whose length in the proxy's tokens is within 5 % of the inserted document's."""
    text = record["variants"].get("E", {}).get("text")
    if text is None and "C" in record["variants"]:
        text = max((e["put"] for e in record["variants"]["C"]["edits"]), key=len)
    if text is None:
        text = record["documents"][1]["text"]
    length = len(tok.encode(text).ids)
    fits = [p["id"] for p in pool if p["lang"] == record["lang"] and abs(p["tokens"] - length) <= 0.05 * length]
    rng = random.Random(f"{SEED}/{record['id']}")
    return rng.sample(fits, PLACEBOS_PER_CASE)


def verify(record):
    """What the labels claim must be true of the texts."""
    messages, view = record["prompt"]["messages"], "".join(m["content"] or "" for m in record["prompt"]["messages"])
    assert record["recorded"] != record["corrected"][0], record["id"]
    for variant in record["variants"].values():
        for edit in variant.get("edits", []):
            if "find" in edit:
                assert messages[variant["message"]]["content"].count(edit["find"]) == 1, record["id"]
        if variant["op"] == "remove_text":
            assert messages[variant["message"]]["content"].count(variant["text"]) == 1, record["id"]
    for need, status in zip(record["task"]["requires"], record["evidence_status"], strict=True):
        complete = all(s in view for s in need["spans"] + need["conditions"])
        assert complete == (status == "in prompt"), (record["id"], status)


def longest_prompt(tok, records):
    """Proxy tokens of the longest prompt with document and action, rendered as the chat template does."""
    import proxy_tasks as P
    worst = (0, "")
    for r in records:
        messages = [{**m} for m in r["prompt"]["messages"]] + [r["corrected"][0]]
        text = "".join(t for t, _ in P.segments({"messages": messages, "tools": r["prompt"]["tools"]}))
        extra = r["variants"].get("E", {}).get("text", "")
        worst = max(worst, (len(tok.encode(text + extra).ids), r["id"]))
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    tok = load_tokenizer()
    pool, records = placebo_pool(tok), list(cases())
    for record in records:
        verify(record)
        record["placebos"] = choose_placebos(tok, pool, record)
    used = {p for r in records for p in r["placebos"]}
    files = {"suite.jsonl": records, "placebos.jsonl": [p for p in pool if p["id"] in used]}
    texts = {name: "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows) for name, rows in files.items()}
    texts["wrappers.json"] = json.dumps(F.WRAPPERS, ensure_ascii=False, indent=1) + "\n"
    bad = 0
    for name, text in texts.items():
        path = OUT / name
        if args.check:
            if not path.exists() or path.read_text() != text:
                bad, _ = 1, print(f"differs: {name}", file=sys.stderr)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    print(len(records), "records,", len(used), "placebos, longest prompt in proxy tokens:", *longest_prompt(tok, records))
    return bad


if __name__ == "__main__":
    sys.exit(main())
