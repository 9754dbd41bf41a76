# SPDX-License-Identifier: Apache-2.0
"""Small changes of meaning in a C source, each of which a test should notice.

sites() lists every change of a text that ./dev mutate can make; draw() yields those of several files in random order.
"""

import collections
import random
import re

Token = collections.namedtuple("Token", "kind text start end")
Site = collections.namedtuple("Site", "file line kind start end becomes")

TOKENS = re.compile(r"""
    (?P<skip>      \s+ | /\*.*?\*/ | //[^\n]* | ^[ \t]*\#(?:[^\n\\]|\\.)* )
  | (?P<string>    "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' )
  | (?P<number>    0[xX][0-9a-fA-F]+[uUlL]* | \d[\w.]* )
  | (?P<name>      [A-Za-z_]\w* )
  | (?P<operator>  >>= | <<= | -> | \+\+ | -- | && | \|\| | [<>=!+\-*/%&|^]= | << | >> | \.\.\. | . )
    """, re.X | re.S | re.M)

# Calls that only log, only free memory, or only reserve space: no test can notice a change of them.
NEVER = re.compile(r"(assert|_Static_assert|(pay|ap)_log\w*|PAYLOGNO|APLOG\w*|apr_pool_(clear|destroy|create\w*|tag)"
                   r"|apr_(array|table|hash)_make|pay_writer_make|va_(start|end|copy))$")
EXCHANGED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&",
             "+": "-", "-": "+", "+=": "-=", "-=": "+="}
KINDS = {"&&": "logic", "||": "logic", "+": "sum", "-": "sum", "+=": "sum", "-=": "sum"}
ASSIGNMENTS = ("=", "+=", "-=", "|=", "&=", "^=", "*=", "/=", "%=", "<<=", ">>=")
CLOSING = {"(": ")", "[": "]", "{": "}"}
OPERAND_ENDS = ("&&", "||", ",", "?", ":", ";", "=", "return")


def tokens_of(text):
    found = []
    for match in TOKENS.finditer(text):
        if match.lastgroup != "skip":
            found.append(Token(match.lastgroup, match.group(), match.start(), match.end()))
    return found


class Body:
    """The tokens of a function between its braces."""

    def __init__(self, head, tokens):
        self.head, self.tokens = head, tokens
        self.match = self.pairs()
        self.excluded = self.excluded_tokens()

    def text(self, index):
        return self.tokens[index].text if 0 <= index < len(self.tokens) else ""

    def pairs(self):
        """Maps the index of each bracket to that of its partner."""
        pairs, open_ones = {}, []
        for index, token in enumerate(self.tokens):
            if token.kind != "operator":
                continue
            if token.text in CLOSING:
                open_ones.append(index)
            elif token.text in CLOSING.values() and open_ones:
                pairs[index] = open_ones.pop()
                pairs[pairs[index]] = index
        return pairs

    def excluded_tokens(self):
        excluded = set()
        for index, token in enumerate(self.tokens):
            if token.kind == "name" and NEVER.match(token.text) and self.text(index + 1) == "(":
                excluded.update(range(index, self.match.get(index + 1, index) + 1))
            elif token.text in ("static", "case"):
                excluded.update(range(index, self.end_of(index, (";", ":")) + 1))
        return excluded

    def end_of(self, index, ends=(";",)):
        """Returns the index of the next token of `ends` outside of brackets that open after `index`."""
        while index < len(self.tokens) and self.text(index) not in ends:
            index = self.match.get(index, index) + 1 if self.text(index) in CLOSING else index + 1
        return index

    def statements(self):
        """Yields (first, last) of each simple statement, without its semicolon."""
        index = 0
        while index < len(self.tokens):
            text = self.text(index)
            if text in ("if", "while", "for", "switch"):
                index = self.match.get(index + 1, index + 1) + 1
            elif text in ("else", "do", "{", "}", ";"):
                index += 1
            elif text in ("case", "default") or (self.text(index + 1) == ":" and self.tokens[index].kind == "name"):
                index = self.end_of(index, (":",)) + 1
            else:
                end = self.end_of(index)
                yield index, end - 1
                index = end + 1

    def is_declaration(self, first):
        if self.text(first) in ("return", "goto"):
            return False
        return self.tokens[first].kind == "name" and (
            self.text(first + 1) == "*" or (first + 1 < len(self.tokens) and self.tokens[first + 1].kind == "name"))


def bodies(text):
    """Yields each function. In the house style only a function's braces are in the first column."""
    tokens = tokens_of(text)
    head_begin = index = 0
    while index < len(tokens):
        token = tokens[index]
        if token.text == "{" and text[token.start - 1:token.start] == "\n":
            end = index
            while end < len(tokens) and not (tokens[end].text == "}" and text[tokens[end].start - 1] == "\n"):
                end += 1
            yield Body(tokens[head_begin:index], tokens[index + 1:end])
            index = end
            head_begin = end + 1
        elif token.text == ";" or (token.text == "}" and text[token.start - 1] == "\n"):
            head_begin = index + 1
        index += 1


def type_of(head):
    """Returns the type of a function's value: "const char *"."""
    words = []
    for token in head:
        if token.text == "(":
            break
        words.append(token.text)
    return " ".join(word for word in words[:-1] if word not in ("static", "inline"))


# ---- the operators: each yields (kind, first token, last token, the replacement)

def exchanged(body):
    for index, token in enumerate(body.tokens):
        if token.kind != "operator" or token.text not in EXCHANGED:
            continue
        before = body.tokens[index - 1] if index else token
        if token.text in "+-" and not (before.kind in ("name", "number") and before.text != "return"
                                       or before.text in (")", "]")):
            continue # a sign
        yield KINDS.get(token.text, "comparison"), index, index, EXCHANGED[token.text]


def operand_begin(body, index):
    while index > 0 and body.text(index - 1) not in OPERAND_ENDS + tuple(CLOSING):
        index = body.match[index - 1] if index - 1 in body.match else index - 1
    return index


def operand_end(body, index):
    return body.end_of(index, OPERAND_ENDS + tuple(CLOSING.values())) - 1


def conjunct_dropped(body):
    for index, token in enumerate(body.tokens):
        if token.kind == "operator" and token.text in ("&&", "||"):
            yield "conjunct", operand_begin(body, index), index, ""
            yield "conjunct", index, operand_end(body, index + 1), ""


def condition_negated(body, text):
    for index, token in enumerate(body.tokens):
        if token.text in ("if", "while") and token.kind == "name" and body.text(index + 1) == "(":
            end = body.match[index + 1]
            yield ("condition", index + 1, end,
                   "(!" + text[body.tokens[index + 1].start:body.tokens[end].end] + ")")


def not_dropped(body):
    for index, token in enumerate(body.tokens):
        if token.kind == "operator" and token.text == "!":
            yield "not", index, index, ""


def off_by_one(body):
    bare = set() # declarations of arrays
    for first, last in body.statements():
        if body.is_declaration(first) and "=" not in (body.text(at) for at in range(first, last)):
            bare.update(range(first, last + 1))
    for index, token in enumerate(body.tokens):
        match = re.fullmatch(r"(0[xX][0-9a-fA-F]+|0|[1-9]\d*)([uUlL]*)", token.text)
        if token.kind != "number" or not match or index in bare:
            continue
        value = int(match[1], 0)
        for other in (value + 1, value - 1):
            if other >= 0:
                yield "constant", index, index, (hex(other) if match[1][:2].lower() == "0x" else str(other)) + match[2]


def statement_dropped(body):
    for first, last in body.statements():
        if last < first or body.is_declaration(first):
            continue
        at = first + 3 if [body.text(first + step) for step in range(3)] == ["(", "void", ")"] else first
        if body.tokens[at].kind == "name" and body.match.get(at + 1) == last and body.text(at + 1) == "(":
            yield "call", first, last, ""
        elif body.text(first) not in ("return", "goto") and body.text(body.end_of(first, ASSIGNMENTS + (";",))) != ";":
            yield "assignment", first, last, ""


def return_changed(body, text):
    kind = type_of(body.head)
    for first, last in body.statements():
        if body.text(first) != "return" or last == first:
            continue
        value = text[body.tokens[first + 1].start:body.tokens[last].end]
        becomes = {"int": f"!({value})", "apr_status_t": "APR_SUCCESS"}.get(kind)
        if kind == "apr_status_t" and value == "APR_SUCCESS":
            becomes = "APR_EGENERAL"
        elif kind.startswith("const ") and kind.endswith("*") and value != "NULL":
            becomes = "NULL"
        if becomes and becomes != value:
            yield "return", first, last, "return " + becomes


def sites(file, text):
    found = []
    for body in bodies(text):
        for changes in (exchanged(body), conjunct_dropped(body), condition_negated(body, text), not_dropped(body),
                        off_by_one(body), statement_dropped(body), return_changed(body, text)):
            for kind, first, last, becomes in changes:
                if first in body.excluded or last in body.excluded:
                    continue
                start, end = body.tokens[first].start, body.tokens[last].end
                # The following lines keep their numbers.
                becomes += "\n" * (text.count("\n", start, end) - becomes.count("\n"))
                found.append(Site(file, text.count("\n", 0, start) + 1, kind, start, end, becomes))
    return found


# ---- choosing changes

def draw(of_floors, seed):
    """Yields (floor, site): the floors in turn, every kind of change with the same probability, no site twice."""
    chance = random.Random(seed)
    floors = {}
    for floor in sorted(of_floors):
        kinds = collections.defaultdict(list)
        for site in of_floors[floor]:
            kinds[site.kind].append(site)
        for listed in kinds.values():
            chance.shuffle(listed)
        floors[floor] = kinds
    while floors:
        for floor in list(floors):
            kinds = floors[floor]
            kind = chance.choice(sorted(kinds)) if kinds else None
            if kind is None:
                del floors[floor]
                continue
            yield floor, kinds[kind].pop()
            if not kinds[kind]:
                del kinds[kind]


def lines_around(text, start, end):
    """Returns where the lines of that span begin and end."""
    return text.rfind("\n", 0, start) + 1, (text.find("\n", end) + 1 or len(text) + 1) - 1


def describe(text, site):
    """Returns (the lines as they are, the lines as the change makes them)."""
    begin, end = lines_around(text, site.start, site.end)
    return text[begin:end], text[begin:site.start] + site.becomes + text[site.end:end]


def apply(text, line, before, after):
    """Returns the text with `after` in place of the `before` nearest to `line`, or None if it is not there."""
    places = [match.start() for match in re.finditer("^" + re.escape(before) + "$", text, re.M)]
    if not places:
        return None
    at = min(places, key=lambda place: abs(text.count("\n", 0, place) + 1 - line))
    return text[:at] + after + text[at + len(before):]
