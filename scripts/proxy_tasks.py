"""The synthetic policy tasks that the embedded proxy is trained on, and the held-out ones it is measured on.

A grammar, not a text collection: documents with versions, validity dates and person groups, in English and Chinese,
are put together from `proxy_words` and from invented words; questions, searches, answers and counter-questions follow
from them. `Forms(held_out=True)` uses other sentence patterns and other words than training. The topics, sentences and
layouts of `sample-logs/` and `assets/fault-suite/` do not occur here; `train_proxy.py overlap` checks that.
"""

import copy
import json

import proxy_words as W

TURN, END, CALL, CALL_END = "<|turn|>", "<|end|>", "<tool_call>", "</tool_call>"


# --- rendering: the same bytes as assets/proxy/chat_template.jinja ----------------------------------------------------

def tool_line(tool):
    f = tool["function"]
    args = [f"{name}: {p.get('description') or p.get('type', '')}"
            for name, p in sorted(f["parameters"]["properties"].items())]
    return f"- {f['name']}({'; '.join(args)}): {f['description']}\n"


def segments(conversation):
    """Returns [(text, is_action)] in order; joined, it is what the chat template renders."""
    out, messages, tools = [], conversation["messages"], conversation.get("tools")
    first = messages[0]["content"] if messages and messages[0]["role"] == "system" else ""
    rest = messages[1:] if first else messages
    if first or tools:
        head = f"{TURN}system\n{first}"
        if tools:
            head += ("\n\n" if first else "") + "Tools:\n" + "".join(tool_line(t) for t in tools)
        out.append((head + END + "\n", False))
    for m in rest:
        if m["role"] != "assistant":
            out.append((f"{TURN}{m['role']}\n{m['content']}{END}\n", False))
            continue
        text = m.get("content") or ""
        for c in m.get("tool_calls") or []:
            f = c["function"]
            text += f'{CALL}{{"name": "{f["name"]}", "arguments": {json.dumps(f["arguments"], ensure_ascii=False)}}}{CALL_END}'
        out.append((f"{TURN}assistant\n", False))
        out.append((text + END, True))
        out.append(("\n", False))
    return out


# --- words -----------------------------------------------------------------------------------------------------------

SYLLABLES = ("ba be bi bo bu da de di do du fa fe fi ga ge go gu ha he hi ho ja jo ka ke ki ko ku la le li lo lu ma me mi mo mu na ne "
             "ni no nu pa pe pi po ra re ri ro ru sa se si so su ta te ti to tu va ve vi vo wa we wi ya yo za ze zi zo "
             "bar bel bor cal cor dal den dor fal fen gar hal hol kar kel lan len lor mar mel mor nal nor par pel ral ren ros sal sen sol "
             "tal ten tor val ven vor wen wil").split()


def invented(rng, lang):
    if lang == "zh":
        return "".join(rng.choice(W.ZH_CHARS) for _ in range(rng.choice((2, 2, 3))))
    word = "".join(rng.choice(SYLLABLES) for _ in range(rng.choice((2, 2, 3))))
    return word if rng.random() < 0.7 else word + " " + "".join(rng.choice(SYLLABLES) for _ in range(2))


class Forms:
    """Sentence patterns and word lists; the held-out set shares neither with training."""

    def __init__(self, held_out=False):
        self.held_out = held_out

    def topic(self, rng, lang):
        if not self.held_out and rng.random() < 0.45:
            return invented(rng, lang)
        lists = {"en": (W.TOPICS, W.HELD_OUT_TOPICS), "zh": (W.ZH_TOPICS, W.ZH_HELD_OUT_TOPICS)}[lang]
        return rng.choice(lists[self.held_out])

    def groups(self, rng, lang):
        if not self.held_out and rng.random() < 0.3:
            a, b = invented(rng, lang), invented(rng, lang)
            return (a, b) if lang == "zh" else (a + "s", b + "s")
        lists = {"en": (W.GROUPS, W.HELD_OUT_GROUPS), "zh": (W.ZH_GROUPS, W.ZH_HELD_OUT_GROUPS)}[lang]
        pair = rng.choice(lists[self.held_out]).split("|")
        rng.shuffle(pair)
        return tuple(pair)

    def value(self, rng, lang):
        if rng.random() < 0.2:
            return rng.choice(W.PHRASES if lang == "en" else W.ZH_PHRASES)
        number = str(rng.choice((rng.randint(2, 99), rng.randint(10, 990), rng.randint(100, 9900))))
        if lang == "zh":
            unit = rng.choice(W.ZH_HELD_OUT_UNITS if self.held_out else W.ZH_UNITS)
            text = number + unit
            if rng.random() < 0.2:
                text = rng.choice(("至多", "每日", "共", "每人")) + text
        else:
            unit = rng.choice(W.HELD_OUT_UNITS if self.held_out else W.UNITS)
            text = f"{number} {unit}"
            if rng.random() < 0.25:
                text += rng.choice((" a day", " a year", " per head", " each", " in all"))
        if rng.random() < 0.15:
            text += (", " if lang == "en" else ",") + rng.choice(W.PHRASES if lang == "en" else W.ZH_PHRASES)
        return text

    def pick(self, rng, table, lang):
        return rng.choice(table[lang][1 if self.held_out else 0])


HEADS = {
    "en": (["{id} {ver} | {title}", "{title} ({id}, {ver})", "Document {id}, edition {ver}: {title}.",
            "### {title}\nid: {id}, version: {ver}", "<{id} {ver}> {title}", "{id}@{ver} - {title}",
            '{{"id": "{id}", "edition": "{ver}"}} {title}', "({id} {ver}) {title}:", "[{id}/{ver}] {title}",
            "{ver} of {id}, {title}", "{id} :: {ver} :: {title}", "{title}\nref {id} {ver}", "[{id}, {ver}] {title}."],
           ["* {id} {ver} * {title}", "{title} = {id} ({ver})", "File {id} {ver} on {title}."]),
    "zh": (["{id} {ver} | {title}", "{title}({id},{ver})", "文件 {id},版次 {ver}:{title}。", "### {title}\n编码:{id},版本:{ver}",
            "<{id} {ver}> {title}", "{id}@{ver} {title}", "【{id}/{ver}】{title}", "{title}\n参见 {id} {ver}",
            "《{title}》{id} {ver}", "({id} {ver}){title}:", "[{id},{ver}] {title}。"],
           ["* {id} {ver} * {title}", "{title} = {id}({ver})", "卷宗 {id} {ver}:{title}。"])}

SPANS = {  # with an end | without
    "en": (["In force from {f} to {u}.|In force since {f}.", "Applies {f} .. {u}.|Applies {f} .. open.",
            "from {f} until {u};|from {f}, no end;", "Effective: {f}. Expires: {u}.|Effective: {f}. Expires: never.",
            "({f} - {u})|({f} - )", "Start {f}, end {u}.|Start {f}, end not set.", "Held from {f}, ended {u}.|Held from {f}.",
            "Good between {f} and {u}.|Good from {f} on."],
           ["Period {f} to {u}.|Period {f} to date.", "Begins {f}, stops {u}.|Begins {f}."]),
    "zh": (["自{f}至{u}施行。|自{f}施行。", "施行:{f} 到 {u}。|施行:{f} 到今。", "起 {f},止 {u};|起 {f},未定止期;",
            "({f} - {u})|({f} - )", "从{f}执行到{u}。|从{f}开始执行。", "开始 {f},结束 {u}。|开始 {f},尚未结束。"],
           ["期间 {f} 至 {u}。|期间 {f} 以来。", "{f}启用,{u}停用。|{f}启用。"])}

CLAUSES = {
    "en": (["{G}: {v}.", "{G} get {v}.", "For {g} it is {v}.", "- {g} = {v}\n", "{G} have {v}.", "{v} for {g}.",
            "{g} -> {v};", "If {g}, then {v}.", "{G} may count on {v}.", "{G} are given {v}.", "{G} pay {v}.", "{G} must bring {v}."],
           ["{G} receive {v}.", "With {g}: {v}."]),
    "zh": (["{g}:{v}。", "{g}可得{v}。", "{g}为{v};", "- {g} = {v}\n", "{v}给{g}。", "若是{g},则{v}。", "{g}按{v}计。", "{g}交{v}。", "{g}领{v}。"],
           ["{g}享有{v}。", "对{g}:{v}。"])}

PLAIN = {
    "en": (["It is {v}.", "The rule: {v}.", "{v} for everybody.", "All get {v}.", "Set at {v}.", "Fixed: {v}.", "Nobody gets more than {v}."],
           ["The figure is {v}.", "One and all: {v}."]),
    "zh": (["定为{v}。", "规矩:{v}。", "人人{v}。", "一律{v}。", "按{v}算。"], ["数目是{v}。", "不论是谁:{v}。"])}

ASK = {  # with a group
    "en": (["What do {g} get for the {t} on {d}?", "{d}, {t}, {g}: what is the rule?", "We are {g}. {t} on {d}, how much?",
            "I count among the {g}. Tell me about the {t} for {d}.", "How is the {t} handled for {g} as of {d}?",
            "{t}? Asking for {g}, {d}.", "Day {d}. The {g} want to know the {t} rule.", "Please look at the {t}. We are {g}, it is {d}.",
            "On {d} the {g} come for the {t}. What holds?", "{g} and the {t}, {d}?", "What holds for {g} ({t}) on {d}?",
            "My group: {g}. My question: {t}. My day: {d}."],
           ["Which figure do {g} have with the {t} by {d}?", "The {t}, please: {g}, {d}."]),
    "zh": (["{d},{g}的{t}怎么定?", "我们是{g},{d}来问{t}。", "{t}对{g}是多少?日子是{d}。", "{g}想知道{t},{d}。", "查{t}:{g},{d}。",
            "到{d}为止,{g}在{t}上如何?", "我属于{g}。{d}的{t}呢?", "{t}?替{g}问,{d}。", "请看{t}。我是{g},今日{d}。"],
           ["{t}这一项,{g},{d},该是几何?", "{d}那天{g}的{t}数目?"])}

ASK_PLAIN = {  # without a group
    "en": (["What is the {t} rule on {d}?", "{t}, {d}: how much?", "How is the {t} handled as of {d}?", "{d}. Tell me about the {t}.",
            "What holds for the {t} on {d}?", "We come for the {t} on {d}. What should we know?", "{t}? It is {d}.", "Please look up the {t} for {d}."],
           ["Which figure has the {t} by {d}?", "The {t}, please: {d}."]),
    "zh": (["{d}的{t}怎么定?", "{t}是多少?日子是{d}。", "查{t},{d}。", "{d}来问{t}。", "到{d}为止,{t}如何?", "请看{t}。今日{d}。", "{t}?{d}。"],
           ["{t}这一项,{d},该是几何?", "{d}那天{t}的数目?"])}

SAY = {
    "en": (["{v} {c}.", "It is {v} {c}.", "For {g}: {v} {c}.", "{G} get {v} {c}.", "According to {c}, {v}.", "The {t} rule says {v} {c}.",
            "{c}: {v}.", "On {d} it is {v} {c}.", "{v}, see {c}.", "That makes {v} for {g} {c}.", "Answer: {v}. Source: {c}.",
            "In the case of {g}, {v} {c}.", "We find {v} in {c}.", "As {g} you have {v} {c}.", "So {v} {c}.", "Yes: {v} {c}."],
           ["The figure is {v} {c}.", "{G} have {v} there {c}.", "There it stands: {v} {c}."]),
    "zh": (["{v} {c}。", "是{v} {c}。", "{g}:{v} {c}。", "{g}可得{v} {c}。", "依 {c},{v}。", "{t}为{v} {c}。", "{c}:{v}。", "{d}时{v} {c}。",
            "{v},见 {c}。", "答:{v}。出处 {c}。", "您是{g},按{v} {c}。", "查得{v} {c}。"],
           ["数目是{v} {c}。", "{g}在此有{v} {c}。"])}

CLARIFY = {
    "en": (["Which are you, {g} or {h}? It is {v} or {w} {c}.", "That depends: {g} {v}, {h} {w} {c}. Which one?",
            "Do you ask as {g} or as {h}? {c}", "{G} or {h}? The rule differs {c}.", "Please tell me whether you are {g} or {h} {c}.",
            "I need your group first: {g} or {h}? {c}", "{v} for {g}, {w} for {h} {c}; who is asking?"],
           ["Who wants it, {g} or {h}? {v} against {w} {c}.", "Name the group first, {g} or {h} {c}."]),
    "zh": (["您是{g}还是{h}?分别是{v}和{w} {c}。", "要看身份:{g}{v},{h}{w} {c}。是哪一种?", "请先说明是{g}还是{h} {c}。", "{g}或{h}?两者不同 {c}。",
            "需要先知道身份:{g}还是{h}?{c}", "{g}得{v},{h}得{w} {c},请问是谁?"],
           ["是{g}要,还是{h}要?{v}对{w} {c}。", "先报身份,{g}或{h} {c}。"])}

NONE = {
    "en": (["Nothing in force covers the {t} on {d}.", "I found no {t} rule for {d}.", "No document answers that for the {t}."],
           ["The {t} is not covered by {d}."]),
    "zh": (["{d}没有{t}的规矩。", "查不到{t}。", "没有文件说明{t}。"], ["{t}在{d}无据可查。"])}

CITES = ["[{id} {ver}]", "({id} {ver})", "[{id}/{ver}]", "{id} {ver}", "[{id}, {ver}]", "<{id} {ver}>", "({id}, {ver})", "[{id} {ver}]"]

SYSTEMS = {
    "en": ["You keep the rule book of {p}.", "Helper for {p}. Say where a rule stands.", "{p} information counter. Short answers with the source.",
           "You answer for {p}. Only rules in force count.", "Clerk of {p}: look it up, then answer.", "{p}. Ask back when the group is unknown.",
           "You work at {p} and quote the document that holds on the day."],
    "zh": ["你掌管{p}的规矩簿。", "{p}问询台,答复要短,写明出处。", "你替{p}作答,只看施行中的规矩。", "{p}的书记员:先查再答。", "{p}。身份不明就反问。",
           "你在{p}值班,引用当天施行的文件。"]}

WRAP = {"en": ["", "", "", " Thank you.", " Short, please.", " One line will do.", " Name the source.", "\nTake your time.", " It is urgent."],
        "zh": ["", "", "", "谢谢。", "请简短。", "一句话即可。", "写明出处。", "不急。", "很急。"]}


# --- things -------------------------------------------------------------------------------------------------------------

def day(rng, low=2016, high=2031):
    return f"{rng.randint(low, high)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"


def shift(rng, date, sign):
    """A day some time before or after; now near, now far."""
    y, m, d = (int(x) for x in date.split("-"))
    months = y * 12 + m - 1 + sign * rng.choice((1, 2, 4, 7, 12, 18, 26, 40))
    return f"{months // 12:04d}-{months % 12 + 1:02d}-{rng.randint(1, 28):02d}"


def doc_id(rng, topic, lang):
    kind = rng.random()
    if kind < 0.4 and lang == "en":
        return topic.replace(" ", rng.choice("-_."))
    if kind < 0.3 and lang == "zh":
        return topic
    if kind < 0.75:
        return rng.choice("ABCDEFGHKLMNPRSTUWXYZ") + rng.choice(("", "-", ".", "/")) + str(rng.randint(2, 990))
    return invented(rng, "en").replace(" ", "-") + rng.choice(("", "", f"-{rng.randint(1, 30)}"))


def two_versions(rng, lang):
    """Two different version tags, the older first; half of the time the tags do not tell which is older."""
    a = rng.randint(1, 8)
    style = rng.choice(("v{}", "ed{}", "r{}", "{}.0", "no. {}", "rev {}") if lang == "en" else ("v{}", "第{}版", "{}.0", "版{}", "r{}"))
    if rng.random() < 0.55:
        return style.format(a), style.format(a + 1)
    if rng.random() < 0.5:
        return style.format(a + 1), style.format(a)
    x, y = rng.sample("abcdefghkmnpqrstuwxyz", 2)
    return f"{x}{rng.randint(1, 9)}", f"{y}{rng.randint(1, 9)}"


class Doc:
    """One version of one document."""

    def __init__(self, rng, forms, lang, topic, ident, ver, start, end, groups):
        self.topic, self.id, self.ver, self.start, self.end, self.lang = topic, ident, ver, start, end, lang
        self.clauses = [(g, forms.value(rng, lang)) for g in groups] if groups else [(None, forms.value(rng, lang))]
        self.text = self._text(rng, forms)

    def _text(self, rng, forms):
        lang = self.lang
        title = self.topic if rng.random() < 0.4 else self.topic.capitalize()
        head = forms.pick(rng, HEADS, lang).format(id=self.id, ver=self.ver, title=title)
        span = forms.pick(rng, SPANS, lang).split("|")[self.end is None].format(f=self.start, u=self.end)
        table = CLAUSES if self.clauses[0][0] else PLAIN
        form = forms.pick(rng, table, lang)
        body = [form.format(g=g, G=(g or "").capitalize(), v=v) for g, v in self.clauses]
        filler = [rng.choice(W.FILLERS if lang == "en" else W.ZH_FILLERS)] if rng.random() < 0.3 else []
        body = filler + body if rng.random() < 0.5 else body + filler
        parts = [head, span, *body] if rng.random() < 0.7 else [head, *body, span]
        return (" " if lang == "en" or rng.random() < 0.2 else "").join(parts)

    def cite(self, form):
        return form.format(id=self.id, ver=self.ver)


class Scene:
    """A topic with an older and a newer version, a day, groups, and what the right answer is."""

    def __init__(self, rng, forms, lang):
        self.rng, self.forms, self.lang = rng, forms, lang
        self.topic = forms.topic(rng, lang)
        self.groups = forms.groups(rng, lang) if rng.random() < 0.55 else ()
        ident = doc_id(rng, self.topic, lang)
        old_ver, new_ver = two_versions(rng, lang)
        change = day(rng)
        before = shift(rng, change, -1)
        self.old = Doc(rng, forms, lang, self.topic, ident, old_ver, shift(rng, before, -1), before, self.groups)
        self.new = Doc(rng, forms, lang, self.topic, ident, new_ver, change, None, self.groups)
        self.asks_old = rng.random() < 0.2
        self.day = shift(rng, before, -1) if self.asks_old else shift(rng, change, 1)
        if self.asks_old and self.day < self.old.start:
            self.day = before
        self.valid, self.stale = (self.old, self.new) if self.asks_old else (self.new, self.old)
        self.which = rng.randrange(len(self.groups)) if self.groups else 0
        self.cite_form = rng.choice(CITES)

    def of_other_group(self):
        """The same documents, asked by the other group."""
        other = copy.copy(self)
        other.which = 1 - self.which
        return other

    def of_other_day(self):
        """The same documents, asked for a day on which the other version holds."""
        other = copy.copy(self)
        other.valid, other.stale = self.stale, self.valid
        if other.valid is self.new:
            other.day = shift(self.rng, self.new.start, 1)
        else:
            other.day = max(shift(self.rng, self.old.end, -1), self.old.start)
        return other

    def question(self, with_group=True):
        rng, table = self.rng, ASK if self.groups and with_group else ASK_PLAIN
        group = self.groups[self.which] if self.groups else ""
        return self.forms.pick(rng, table, self.lang).format(t=self.topic, d=self.day, g=group) + rng.choice(WRAP[self.lang])

    def answer(self, doc=None, form=None, which=None):
        doc = doc or self.valid
        group, value = doc.clauses[self.which if which is None else which]
        if form is None:
            form = self.say_form()
        group = group or ""
        return form.format(v=value, c=doc.cite(self.cite_form), g=group, G=group.capitalize(), t=self.topic, d=self.day)

    def say_form(self):
        while True:
            form = self.forms.pick(self.rng, SAY, self.lang)
            if self.groups or not ("{g}" in form or "{G}" in form):
                return form

    def clarify(self, form=None):
        (g, v), (h, w) = self.valid.clauses
        form = form or self.forms.pick(self.rng, CLARIFY, self.lang)
        return form.format(g=g, G=g.capitalize(), h=h, v=v, w=w, c=self.valid.cite(self.cite_form))

    def none(self):
        return self.forms.pick(self.rng, NONE, self.lang).format(t=self.topic, d=self.day)


TOOL_NAMES = """find_rules doc_lookup kb_query query_docs fetch_notes rulebook archive_find look_up get_text shelf_search note_finder
page_query open_book read_rules text_index""".split()
QUERY_ARGS = [("query", "words to look for"), ("q", "string"), ("text", "what to find"), ("words", "key words"), ("topic", "topic")]
DAY_ARGS = [("date", "day that counts"), ("day", "day, YYYY-MM-DD"), ("as_of", "valid on this day"), ("when", "string")]
ABOUT = {"en": ["Finds rules.", "Returns documents about a topic.", "Looks into the rule book.", "Gives the texts that match.", "Reads the shelf of rules."],
         "zh": ["查找规矩。", "返回相关文件。", "翻查规矩簿。", "给出匹配的文本。"]}


def function(name, about, args):
    return {"type": "function", "function": {"name": name, "description": about, "parameters": {
        "type": "object", "properties": {a: {"type": "string", "description": d} for a, d in args},
        "required": [args[0][0]]}}}


def call(name, arguments):
    return {"role": "assistant", "content": "", "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}]}


def message(role, content):
    return {"role": role, "content": content}


class SearchTool:
    """A search tool with a random name and arguments, and the calls made with it."""

    def __init__(self, rng, lang):
        self.rng = rng
        self.name = rng.choice(TOOL_NAMES) if rng.random() < 0.7 else invented(rng, "en").replace(" ", "_")
        self.query = rng.choice(QUERY_ARGS)
        self.day = rng.choice(DAY_ARGS) if rng.random() < 0.7 else None
        self.schema = function(self.name, rng.choice(ABOUT[lang]), [self.query] + ([self.day] if self.day else []))

    def call(self, scene, with_day):
        words = scene.topic if self.rng.random() < 0.7 or not scene.groups else f"{scene.topic} {scene.groups[scene.which]}"
        arguments = {self.query[0]: words}
        if with_day and self.day:
            arguments[self.day[0]] = scene.day
        return call(self.name, arguments)


# --- conversations --------------------------------------------------------------------------------------------------------

def shuffled(rng, items):
    items = list(items)
    rng.shuffle(items)
    return items


def system(rng, lang):
    return rng.choice(SYSTEMS[lang]).format(p=rng.choice(W.PLACES if lang == "en" else W.ZH_PLACES))


def listing(rng, docs):
    return rng.choice(("\n", "\n\n", "\n---\n", "\n")).join(d.text for d in docs)


def drill(rng, forms, lang):
    """Key and value lines, then several questions: plain reading."""
    n = rng.randint(3, 8)
    keys = []
    while len(keys) < n:
        key = forms.topic(rng, lang)
        if key not in keys:
            keys.append(key)
    values = [forms.value(rng, lang) for _ in keys]
    join = rng.choice((": ", " = ", " -> ", " "))
    messages = [message("system", "\n".join(f"{k}{join}{v}" for k, v in zip(keys, values)))]
    for i in rng.sample(range(n), min(n, 5)):
        messages += [message("user", keys[i] + rng.choice(("?", "", ":"))), message("assistant", values[i])]
    return {"messages": messages}


def place(rng, lang, docs, question, tool=None, scene=None):
    """Puts documents into the system prompt, the user's message, or a tool's answer."""
    where = rng.random()
    if where < 0.25:
        return [message("system", system(rng, lang) + "\n" + listing(rng, docs)), message("user", question)], None
    if where < 0.4:
        both = [listing(rng, docs), question]
        text = "\n\n".join(both if rng.random() < 0.6 else both[::-1])
        return [message("system", system(rng, lang)), message("user", text)], None
    tool = tool or SearchTool(rng, lang)
    head = [message("system", system(rng, lang))] if rng.random() < 0.85 else []
    if len(docs) > 1 and rng.random() < 0.3:  # two searches
        cut = rng.randint(1, len(docs) - 1)
        return head + [message("user", question), tool.call(scene, False), message("tool", listing(rng, docs[:cut])),
                       tool.call(scene, True), message("tool", listing(rng, docs[cut:]))], [tool.schema]
    return head + [message("user", question), tool.call(scene, rng.random() < 0.5),
                   message("tool", listing(rng, docs))], [tool.schema]


def answering(rng, forms, lang):
    """Documents in view and a question; then questions about the other documents, the other group, the other day."""
    scene = Scene(rng, forms, lang)
    others = [Scene(rng, forms, lang) for _ in range(rng.choice((0, 1, 1, 2, 2)))]
    both = rng.random() < 0.55
    docs = [scene.valid] + ([scene.stale] if both else []) + [o.valid for o in others]
    messages, tools = place(rng, lang, shuffled(rng, docs), scene.question(), scene=scene)
    messages.append(message("assistant", scene.answer()))
    follow = [o for o in others if rng.random() < 0.75]
    if scene.groups and rng.random() < 0.6:
        follow.append(scene.of_other_group())
    if both and rng.random() < 0.6:
        follow.append(scene.of_other_day())
    for other in shuffled(rng, follow):
        messages += [message("user", other.question()), message("assistant", other.answer())]
    return {"messages": messages, "tools": tools}


def clarifying(rng, forms, lang):
    scene = Scene(rng, forms, lang)
    while not scene.groups:
        scene = Scene(rng, forms, lang)
    docs = [scene.valid] + ([scene.stale] if rng.random() < 0.3 else [])
    if rng.random() < 0.3:
        docs.append(Scene(rng, forms, lang).valid)
    messages, tools = place(rng, lang, shuffled(rng, docs), scene.question(with_group=False), scene=scene)
    messages.append(message("assistant", scene.clarify()))
    if rng.random() < 0.6:
        group = scene.groups[scene.which]
        messages += [message("user", rng.choice({"en": [f"We are {group}.", group.capitalize() + ".", f"As {group}."],
                                                 "zh": [f"{group}。", f"我是{group}。", f"算{group}。"]}[lang])),
                     message("assistant", scene.answer())]
    return {"messages": messages, "tools": tools}


def searching(rng, forms, lang):
    """Nothing in view, or only a version that does not hold: search (again)."""
    scene, tool = Scene(rng, forms, lang), SearchTool(rng, lang)
    tool.day = tool.day or DAY_ARGS[1]
    tool.schema = function(tool.name, tool.schema["function"]["description"], [tool.query, tool.day])
    messages = [message("system", system(rng, lang)), message("user", scene.question()), tool.call(scene, rng.random() < 0.3)]
    if rng.random() < 0.6:
        messages += [message("tool", scene.stale.text), tool.call(scene, True), message("tool", scene.valid.text),
                     message("assistant", scene.answer())]
    elif rng.random() < 0.5:
        messages += [message("tool", Scene(rng, forms, lang).valid.text), message("assistant", scene.none())]
    return {"messages": messages, "tools": [tool.schema]}


VERBS = {"en": [("Counts", "Count"), ("Books", "Book"), ("Closes", "Close"), ("Paints", "Paint"), ("Moves", "Move"), ("Lists", "List"), ("Cleans", "Clean"),
                ("Opens", "Open"), ("Measures", "Measure"), ("Lends", "Lend"), ("Repairs", "Repair"), ("Prints", "Print"), ("Weighs", "Weigh")],
         "zh": [("清点", "清点"), ("预订", "预订"), ("关闭", "关闭"), ("粉刷", "粉刷"), ("移动", "移动"), ("列出", "列出"), ("清洗", "清洗"), ("打开", "打开"), ("测量", "测量"),
                ("出借", "出借"), ("修理", "修理"), ("打印", "打印"), ("称重", "称重")]}
SLOTS = {"en": [("day", "the day"), ("code", "the code"), ("number", "how many"), ("place", "the place")],
         "zh": [("day", "日期"), ("code", "编码"), ("number", "数量"), ("place", "地点")]}


def slot_value(rng, kind, lang):
    if kind == "day":
        return day(rng)
    if kind == "code":
        return rng.choice("ABCDEFGHKLMN") + str(rng.randint(10, 999))
    if kind == "number":
        return str(rng.randint(2, 980))
    return rng.choice(W.PLACES if lang == "en" else W.ZH_PLACES) if rng.random() < 0.5 else invented(rng, lang)


def choosing(rng, forms, lang):
    """Several tools; only the descriptions tell which one fits and which value goes in."""
    n = rng.randint(2, 4)
    topics = []
    while len(topics) < n:
        topic = forms.topic(rng, lang)
        if topic not in topics:
            topics.append(topic)
    verbs = [rng.choice(VERBS[lang]) for _ in range(n)]
    names = []
    while len(names) < n:
        name = rng.choice((f"{invented(rng, 'en')}", f"t{rng.randint(10, 99)}", f"{invented(rng, 'en')}_{rng.randint(1, 9)}")).replace(" ", "_")
        if name not in names:
            names.append(name)
    tools, kinds = [], []
    for i in range(n):
        kind = rng.choice(SLOTS[lang])
        kinds.append(kind[0])
        arg = rng.choice(("value", "x", "input", "arg", kind[0]))
        about = (f"{verbs[i][0]} the {topics[i]}." if lang == "en" else f"{verbs[i][0]}{topics[i]}。") if rng.random() < 0.85 else topics[i]
        tools.append((names[i], arg, function(names[i], about, [(arg, kind[1])])))
    messages, more = [message("system", system(rng, lang))] if rng.random() < 0.6 else [], []
    if rng.random() < 0.3:
        before = answering(rng, forms, lang)
        messages, more = before["messages"], before["tools"] or []
    for i in rng.sample(range(n), rng.randint(1, min(n, 3))):
        given = {k: slot_value(rng, k, lang) for k in shuffled(rng, {kinds[i], *rng.sample(["day", "code", "number", "place"], rng.randint(0, 2))})}
        details = ", ".join(given.values()) if lang == "en" else ",".join(given.values())
        ask = rng.choice({"en": [f"{verbs[i][1]} the {topics[i]}: {details}.", f"Please see to the {topics[i]}, {details}.",
                                 f"{details}. {topics[i].capitalize()}, please.", f"The {topics[i]} ({details})."],
                          "zh": [f"{verbs[i][1]}{topics[i]}:{details}。", f"请处理{topics[i]},{details}。", f"{details}。{topics[i]},谢谢。", f"{topics[i]}({details})。"]}[lang])
        messages += [message("user", ask), call(tools[i][0], {tools[i][1]: given[kinds[i]]})]
        messages.append(message("tool", rng.choice(("ok", "done", "好", "ok " + str(rng.randint(1, 99))))))
    return {"messages": messages[:-1], "tools": shuffled(rng, more + [t[2] for t in tools])}


KINDS = [(drill, 0.14), (answering, 0.44), (clarifying, 0.12), (searching, 0.12), (choosing, 0.18)]
LATER_KINDS = [(drill, 0.06), (answering, 0.40), (clarifying, 0.10), (searching, 0.08), (choosing, 0.36)]


def sample(rng, forms, lang=None, kinds=KINDS):
    """Draws one training conversation."""
    lang = lang or rng.choice(("en", "zh"))
    return rng.choices([k for k, _ in kinds], [w for _, w in kinds])[0](rng, forms, lang)


# --- held-out measurement ---------------------------------------------------------------------------------------------------

def insertion_case(rng, lang):
    """A failed decision: only the stale version in view. Returns prompts without, with the valid document and with two placebos, and both actions."""
    forms = Forms(held_out=True)
    scene = Scene(rng, forms, lang)
    while scene.valid.clauses[scene.which][1] == scene.stale.clauses[scene.which][1]:
        scene = Scene(rng, forms, lang)
    tool = SearchTool(rng, lang)
    form = scene.say_form()
    base = [message("system", system(rng, lang)), message("user", scene.question()), tool.call(scene, False)]

    def prompt(extra):
        docs = [scene.stale] + extra
        return {"messages": base + [message("tool", "\n".join(d if isinstance(d, str) else d.text for d in docs))], "tools": [tool.schema]}

    placebos = [other_doc(rng, forms, lang, scene) for _ in range(3)]
    return {"lang": lang, "recorded": prompt([]), "inserted": prompt([scene.valid]),
            "placebos": [prompt([p]) for p in placebos],
            "wrong": scene.answer(scene.stale, form), "right": scene.answer(scene.valid, form)}


def other_doc(rng, forms, lang, scene):
    """A document about something else whose text is about as long."""
    best = None
    for _ in range(30):
        other = Scene(rng, forms, lang)
        if other.topic == scene.topic:
            continue
        gap = abs(len(other.valid.text) - len(scene.valid.text))
        if best is None or gap < best[0]:
            best = (gap, other.valid)
    return best[1]


def tool_case(rng, lang):
    """The right tool's description is blurred in the recorded prompt and clear in the rewritten one."""
    forms = Forms(held_out=True)
    right, wrong = rng.sample(W.HELD_OUT_TOPICS if lang == "en" else W.ZH_HELD_OUT_TOPICS, 2)
    verb = rng.choice(VERBS[lang])
    vague = {"en": "Helps with things.", "zh": "处理事务。"}[lang]
    clear = {"en": f"{verb[0]} the {right}.", "zh": f"{verb[0]}{right}。"}[lang]
    other = {"en": f"{rng.choice(VERBS[lang])[0]} the {wrong}.", "zh": f"{rng.choice(VERBS[lang])[0]}{wrong}。"}[lang]
    a, b = f"k{rng.randint(10, 99)}", f"m{rng.randint(10, 99)}"
    value = day(rng)
    kind = dict(SLOTS[lang])["day"]
    ask = {"en": f"{verb[1]} the {right}: {value}.", "zh": f"{verb[1]}{right}:{value}。"}[lang]

    def prompt(about):
        tools = [function(a, about, [("value", kind)]), function(b, other, [("value", kind)])]
        return {"messages": [message("user", ask)], "tools": tools if value[-1] in "02468" else tools[::-1]}

    return {"lang": lang, "recorded": prompt(vague), "rewritten": prompt(clear),
            "wrong": call(b, {"value": value}), "right": call(a, {"value": value})}
