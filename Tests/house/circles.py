#!/usr/bin/env python3
"""Finds circles in each Swift target: nodes that all depend on one another, directly or not.

A node is a file with its extension files: Foo.swift and Foo+Bar.swift are the node Foo. In the second form a node is a
folder with the files that lie in it, but not those of its own folders; the files that lie in the target's folder itself
are one node as well, ".", since nobody would see an order among them. There is an arrow from node A to node B if the code
of a file of A, without comments and strings, names something that a file of B declares:

- a type: a struct, class, enum, actor, protocol or typealias at the top level of a file,
- a function or constant at the top level of a file,
- a member that B declares in an extension of a type of another node, if only B declares a member of that name, in the
  target and in those that it imports. Functions count where they are called or follow a dot; properties and nested
  types where they follow a dot, or stand in code that extends the same type.

Private declarations do not count, nor do names that the file of A uses for a generic parameter, associated type or
nested type. Members that a type declares itself, or a file of its node, come with the type's name.

A circle is a strongly connected component of these arrows, and its size is its number of nodes. Fails if a target has a
circle larger than its limit below. The limits may only go down.

    Tests/house/circles.py                     the sizes of the largest circles of each target
    Tests/house/circles.py --ties TARGET...    their nodes, and each arrow in them, after the size of the largest circle
                                         that would remain without the arrow: its names with their uses, or, of a thin
                                         arrow between folders, the files with these
"""
import collections
import re
import sys

sys.dont_write_bytecode = True
from sources import ROOT, closing, swift_code  # noqa: E402

# Nodes of the largest circle. The aim is 6 files at most, and no folder, in each target.
LIMITS = {
    "files": {"SDD": 3, "SDDBase": 0, "SDDCaches": 4, "SDDCoders": 3, "SDDEngine": 5, "SDDTransport": 3},
    "folders": {"SDD": 0, "SDDBase": 0, "SDDCaches": 0, "SDDCoders": 0, "SDDEngine": 0, "SDDTransport": 0},
}
TARGETS = list(LIMITS["files"])
NODES = {"files": lambda path: path.stem.split("+")[0], "folders": lambda path: path.parent.as_posix()}

TYPE = "struct|class|enum|actor|protocol|typealias|associatedtype"
DECLARATION = re.compile(
    rf"(?<![.\w`])(?P<kind>{TYPE}|extension|func|let|var|case|subscript|init)\b(?!\s*[:.,)=])"
    r"\s*(?P<name>`?[\w.]+`?)?(?P<generic>\s*<[^>{}()]*>)?"
)
PRIVATE = re.compile(r"\b(?:private|fileprivate)\b(?!\(set\))[^\n;{}]*$")
THIN = 8  # pairs of files that tie two folders
CALL = r"\s*(?:[({]|\bwhere\b)"
Declared = collections.namedtuple("Declared", "kind name owner is_private shadows")


def declarations(code):
    """Yields the declarations at the top level and in types and extensions, not those in functions. `owner` is the type
    that has the declaration; `shadows` are names of its generic parameters."""
    yield from _within(code, 0, len(code), None, False, False)


def _within(code, at, end, owner, is_extension, is_private):
    while (match := DECLARATION.search(code, at, end)) is not None:
        # Brackets before it are accessors, bodies or initial values.
        bracket = re.compile(r"[{(\[]").search(code, at, match.start())
        if bracket:
            at = closing(code, bracket.start()) + 1
            continue
        at = match.end()
        kind, name = match["kind"], (match["name"] or "").strip("`")
        start = code.rfind("\n", 0, match.start()) + 1
        hidden = is_private or PRIVATE.search(code[start : match.start()]) is not None
        if kind in ("let", "var"):
            if code[match.end() :].lstrip()[:1] == "(" and not name:
                continue
        if kind == "class" and name in ("func", "var"):
            at = match.start() + len("class")
            continue
        shadows = re.findall(r"(?:^|[<,])\s*(?:each\s+)?(\w+)", match["generic"] or "")
        if kind == "extension":
            body = code.find("{", at)
            name = name or code[at:body].strip()  # [UInt8]
            close = closing(code, body)
            yield from _within(code, body + 1, close, name, True, hidden)
            at = close + 1
            continue
        if name and kind not in ("init", "subscript"):
            yield Declared(kind, name, (owner, is_extension) if owner else None, hidden, shadows)
        if kind in TYPE.split("|") and kind not in ("typealias", "associatedtype"):
            body = code.find("{", at)
            close = closing(code, body)
            yield from _within(code, body + 1, close, name if owner is None else f"{owner}.{name}", False, hidden)
            at = close + 1


def uses_of(names, code):
    return collections.Counter(re.findall(names, code))


class Target:
    def __init__(self, name):
        folder = ROOT / "Sources" / name
        self.imports = set()
        self.code = {}  # by file, as are `declared` and `homes`
        for path in sorted(folder.rglob("*.swift")):
            code = swift_code(path.read_text(encoding="utf-8"))
            self.imports |= set(re.findall(r"\bimport (\w+)", code))
            self.code[path.relative_to(folder)] = code
        self.declared = {file: list(declarations(code)) for file, code in self.code.items()}
        self.homes = {  # of types, functions and constants at the top level
            each.name: file
            for file, all in self.declared.items()
            for each in all
            if each.owner is None and not each.is_private
        }
        self.names = {each.name for all in self.declared.values() for each in all}

    def strange_members(self, node, imported):
        """Members that a node declares in extensions of types of other nodes or targets."""
        nodes = collections.defaultdict(set)  # the nodes that declare a member of a name
        for file, all in self.declared.items():
            for each in all:
                nodes[each.name].add(node(file))
        for file, all in self.declared.items():
            for each in all:
                if each.owner is None or each.is_private or not each.owner[1] or each.kind == "case":
                    continue
                home = self.homes.get(each.owner[0].split(".")[0])
                if home and node(home) == node(file) or len(nodes[each.name]) > 1:
                    continue
                if any(each.name in other.names for other in imported):
                    continue
                yield file, each

    def arrows(self, node, imported):
        """By pair of files of different nodes: the names that tie them, with the number of uses."""
        found = collections.defaultdict(collections.Counter)
        shadowed = {
            file: {name for each in all for name in each.shadows}
            | {each.name for each in all if each.owner is not None and each.kind in TYPE.split("|")}
            for file, all in self.declared.items()
        }
        words = {file: uses_of(r"(?<![.\w`])[A-Za-z_]\w*", code) for file, code in self.code.items()}
        dotted = {file: uses_of(r"\.`?([A-Za-z_]\w*)", code) for file, code in self.code.items()}
        top = {each.name: each.kind for all in self.declared.values() for each in all if each.owner is None}
        for file, code in self.code.items():
            for name, home in self.homes.items():
                if node(home) == node(file) or name in shadowed[file] or not words[file][name]:
                    continue
                uses = words[file][name]
                if top[name] == "func":
                    uses = len(re.findall(rf"(?<![.\w`]){name}{CALL}", code))
                elif top[name] in ("let", "var"):
                    uses = len(re.findall(rf"(?<![.\w`]){name}\b(?!\s*:)", code))
                if uses:
                    found[file, home][name] += uses
        extended = {
            file: {each.owner[0].split(".")[0] for each in all if each.owner} for file, all in self.declared.items()
        }
        for home, each in self.strange_members(node, imported):
            for file, code in self.code.items():
                if node(file) == node(home):
                    continue
                uses = dotted[file][each.name]
                if each.kind == "func":
                    if words[file][each.name]:
                        uses += len(re.findall(rf"(?<![.\w`]){each.name}{CALL}", code))
                elif each.owner[0].split(".")[0] in extended[file]:
                    uses += words[file][each.name]
                if uses:
                    found[file, home][each.name] = uses
        return found


def largest_circle(nodes, arrows):
    """The largest strongly connected component, by Tarjan's algorithm; empty if no two nodes form a circle."""
    after = collections.defaultdict(list)
    for a, b in sorted(arrows):
        after[a].append(b)
    index, low, stack, best = {}, {}, [], []

    def visit(node):
        nonlocal best
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in after[node]:
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > max(1, len(best)):
                best = sorted(stack[at:])
            del stack[at:]

    for node in sorted(nodes):
        if node not in index:
            visit(node)
    return best


def of_nodes(ties, node):
    """By pair of nodes: the ties between their files."""
    found = collections.defaultdict(dict)
    for (a, b), names in ties.items():
        found[node(a), node(b)][a, b] = names
    return found


def told(names):
    return ", ".join(f"{name} ({uses})" for name, uses in sorted(names.items()))


def tell_ties(arrows, circle, form):
    inside = {pair: ties for pair, ties in arrows.items() if pair[0] in circle and pair[1] in circle}
    rows = []
    for pair, ties in inside.items():
        without = len(largest_circle(circle, set(inside) - {pair}))
        names = sum(ties.values(), collections.Counter())
        rows.append((without, sum(names.values()), pair, ties, names))
    for without, uses, (a, b), ties, names in sorted(rows, key=lambda row: row[:3]):
        print(f"    {without:3}  {a} -> {b}: " + (told(names) if form == "files" else f"{len(ties)} pairs of files, {uses} uses"))
        if form == "folders" and len(ties) <= THIN:
            for (one, other), names in sorted(ties.items()):
                print(f"             {one.stem} -> {other.stem}: {told(names)}")


def main():
    sys.setrecursionlimit(10000)
    asked = sys.argv[2:] if sys.argv[1:2] == ["--ties"] else []
    if len(sys.argv) > 1 and not asked or not set(asked) <= set(TARGETS):
        sys.exit(__doc__)
    targets = {name: Target(name) for name in TARGETS}
    is_good = True
    for form, limits in LIMITS.items():
        sizes = {}
        for name in asked or TARGETS:
            target, node = targets[name], NODES[form]
            imported = [targets[other] for other in target.imports & set(targets) - {name}]
            arrows = of_nodes(target.arrows(node, imported), node)
            nodes = {node(file) for file in target.code}
            circle = largest_circle(nodes, arrows)
            sizes[name] = len(circle)
            if asked:
                print(f"{name}: {len(nodes)} {form}, largest circle {len(circle)}: {' '.join(circle)}")
                tell_ties(arrows, circle, form)
            if len(circle) > limits[name]:
                is_good = False
                print(
                    f"circles.py: {name} has a circle of {len(circle)} {form}, the limit is {limits[name]}",
                    file=sys.stderr)
            elif len(circle) < limits[name]:
                print(f"circles.py: the limit of {name}, {form}, can go down to {len(circle)}")
        if is_good and not asked:
            print(f"ok circles of {form}: " + ", ".join(f"{name} {size}" for name, size in sizes.items()))
    if not is_good:
        sys.exit(1)


main()
