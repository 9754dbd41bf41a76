# SPDX-License-Identifier: Apache-2.0
"""Indents JSON without touching a literal: 1500.50 stays 1500.50. Anything else is printed as it is."""

import json
import re
import sys


def indented(text):
    depth, out = 0, []
    for part in re.findall(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+', text):
        if part in "}]":
            depth -= 1
            out.append("" if out[-1] in "{[" else "\n" + "    " * depth)
        elif out and out[-1] in "{[,":
            out.append("\n" + "    " * depth)
        out.append(part)
        if part == ":":
            out.append(" ")
        if part in "{[":
            depth += 1
    return "".join(out)


answer = sys.stdin.read()
try:
    json.loads(answer)
    print(indented(answer))
except ValueError:
    print(answer)
