"""Reads source text for the other programs of this folder: finds functions, and code outside comments and strings."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

MARKS = re.compile(r'//[^\n]*|/\*|(#*)("""|")|[()]')
BLOCK = re.compile(r"/\*|\*/")
CODE = re.compile(r"[^\n]")


def _blank(text):
    return CODE.sub(" ", text)


def _end_of_comment(text, at):
    """Returns the offset behind the block comment that begins at `at`; Swift's comments nest."""
    depth = 0
    for match in BLOCK.finditer(text, at):
        depth += 1 if match[0] == "/*" else -1
        if depth == 0:
            return match.end()
    return len(text)


def _string(text, at, hashes, quotes):
    """Returns the offset behind the string literal whose text begins at `at`, and its replacement: blanks, and the code
    of its interpolations."""
    out = []
    marks = re.compile(rf"{quotes}{hashes}|\\{hashes}(\(|.)", re.DOTALL)
    while match := marks.search(text, at):
        out.append(_blank(text[at : match.start()]))
        at = match.end()
        if match[1] == "(":
            at, code = _code(text, at, is_interpolation=True)
            out.append(" " * (len(match[0]) - 1) + "(" + code)
        else:
            out.append(_blank(match[0]))
            if match[1] is None:
                return at, "".join(out)
    return len(text), "".join(out) + _blank(text[at:])


def _code(text, at, is_interpolation=False):
    """Returns the code from `at` to the end of the text or of the interpolation, and the offset behind it."""
    out, depth = [], 0
    while match := MARKS.search(text, at):
        out.append(text[at : match.start()])
        at = match.end()
        if match[0] in "()":
            out.append(match[0])
            depth += 1 if match[0] == "(" else -1
            if is_interpolation and depth < 0:
                return at, "".join(out)
        elif match[2]:
            out.append(" " * len(match[0]))
            at, literal = _string(text, at, match[1], match[2])
            out.append(literal)
        else:
            at = _end_of_comment(text, match.start()) if match[0] == "/*" else at
            out.append(_blank(text[match.start() : at]))
    return len(text), "".join(out) + text[at:]


def swift_code(text):
    """Replaces comments and string literals by blanks; each character of code keeps its offset."""
    return _code(text, 0)[1]


BRACKETS = re.compile(r"[()\[\]{}]")


def closing(code, at):
    """Returns the offset of the bracket that closes the one at `at`."""
    depth = 0
    for match in BRACKETS.finditer(code, at):
        depth += 1 if match[0] in "([{" else -1
        if depth == 0:
            return match.start()
    return len(code) - 1


HEADS = re.compile(r"(?<![.\w`])(?:func\s+(`?\w+`?|[^\s\w(]+)|(init|deinit|subscript)(?=\s*[?!<({])|var\s+(\w+)\s*:)")
AFTER_HEAD = re.compile(r"[{}(\[=]|(?<![.\w`])(?:func|init|deinit|subscript|var|let|case)\b")


def swift_functions(code):
    """Yields name, offset and offset of the closing brace of each function, initializer, subscript and property."""
    for head in HEADS.finditer(code):
        at = head.end()
        while (match := AFTER_HEAD.search(code, at)) and match[0] in "([":
            at = closing(code, match.start()) + 1
        if match and match[0] == "{":
            yield head[1] or head[2] or head[3], head.start(), closing(code, match.start())


C_BODY = re.compile(r"^\{\n.*?^\}", re.MULTILINE | re.DOTALL)
C_HEAD = re.compile(r"(?:^[^\s/*#}].*\n|^ .*\n)*\Z", re.MULTILINE)
C_NAME = re.compile(r"(?:CASE\()?(\w+)\s*[()]")  # "static int name(", "CASE(name)"


def c_functions(text):
    """Yields name, offset and offset of the closing brace of each function whose braces are in column 0."""
    for body in C_BODY.finditer(text):
        head = C_HEAD.search(text, max(0, body.start() - 1000), body.start())[0]
        name = C_NAME.search(head)
        yield name[1] if name else "?", body.start() - len(head), body.end() - 1


def functions(path, text):
    """Returns the name, the first and the last offset of each function in a file of either language."""
    if path.suffix != ".swift":
        return c_functions(text)
    return swift_functions(swift_code(text))
