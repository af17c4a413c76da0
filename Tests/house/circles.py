#!/usr/bin/env python3
"""Finds circles of files in each Swift target: files that all depend on one another, directly or not.

A node is a file with its extension files: Foo.swift and Foo+Bar.swift are the node Foo. There is an arrow from node A
to node B if the code of A, without comments and strings, names something that is declared in B:

- a type: a struct, class, enum, actor, protocol or typealias at the top level of a file,
- a function or constant at the top level of a file,
- a member that B declares in an extension of a type of another node, if only B declares a member of that name, in the
  target and in those that it imports. Functions count where they are called or follow a dot; properties and nested
  types where they follow a dot, or stand in code that extends the same type.

Private declarations do not count, nor do names that A uses for a generic parameter, associated type or nested type.
Members that a type declares itself, or a file of its node, come with the type's name.

A circle is a strongly connected component of these arrows, and its size is its number of nodes. Fails if a target has a
circle larger than its limit below. The limits may only go down.

    Tests/house/circles.py                     the size of the largest circle of each target
    Tests/house/circles.py --ties TARGET...    its files, and each arrow in it, with its names (and their uses), after the
                                         size of the largest circle that would remain without the arrow
"""
import collections
import re
import sys

sys.dont_write_bytecode = True
from sources import ROOT, closing, swift_code  # noqa: E402

# Nodes of the largest circle. The aim is 6 at most, in each target.
LIMITS = {"SDD": 3, "SDDBase": 0, "SDDCaches": 4, "SDDCoders": 4, "SDDEngine": 5, "SDDTransport": 6}

TYPE = "struct|class|enum|actor|protocol|typealias|associatedtype"
DECLARATION = re.compile(
    rf"(?<![.\w`])(?P<kind>{TYPE}|extension|func|let|var|case|subscript|init)\b(?!\s*[:.,)=])"
    r"\s*(?P<name>`?[\w.]+`?)?(?P<generic>\s*<[^>{}()]*>)?"
)
PRIVATE = re.compile(r"\b(?:private|fileprivate)\b(?!\(set\))[^\n;{}]*$")
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
        self.name = name
        self.code = collections.defaultdict(str)  # by node
        self.imports = set()
        for path in sorted((ROOT / "Sources" / name).rglob("*.swift")):
            code = swift_code(path.read_text(encoding="utf-8"))
            self.imports |= set(re.findall(r"\bimport (\w+)", code))
            self.code[path.stem.split("+")[0]] += code + "\n"
        self.declared = {node: list(declarations(code)) for node, code in self.code.items()}
        self.homes = {  # of types, functions and constants at the top level
            each.name: node
            for node, all in self.declared.items()
            for each in all
            if each.owner is None and not each.is_private
        }
        self.members = collections.defaultdict(set)  # the nodes that declare a member of a name
        for node, all in self.declared.items():
            for each in all:
                self.members[each.name].add(node)

    def strange_members(self, imported):
        """Members that a node declares in extensions of types of other nodes or targets."""
        for node, all in self.declared.items():
            for each in all:
                if each.owner is None or each.is_private or not each.owner[1] or each.kind == "case":
                    continue
                home = self.homes.get(each.owner[0].split(".")[0])
                if home == node or len(self.members[each.name]) > 1:
                    continue
                if any(each.name in other.members for other in imported):
                    continue
                yield node, each, home

    def arrows(self, imported):
        """By pair of nodes: the names that tie them, with the number of uses."""
        found = collections.defaultdict(collections.Counter)
        shadowed = {
            node: {name for each in all for name in each.shadows}
            | {each.name for each in all if each.owner is not None and each.kind in TYPE.split("|")}
            for node, all in self.declared.items()
        }
        words = {node: uses_of(r"(?<![.\w`])[A-Za-z_]\w*", code) for node, code in self.code.items()}
        dotted = {node: uses_of(r"\.`?([A-Za-z_]\w*)", code) for node, code in self.code.items()}
        top = {each.name: each.kind for all in self.declared.values() for each in all if each.owner is None}
        for node, code in self.code.items():
            for name, home in self.homes.items():
                if home == node or name in shadowed[node] or not words[node][name]:
                    continue
                uses = words[node][name]
                if top[name] == "func":
                    uses = len(re.findall(rf"(?<![.\w`]){name}{CALL}", code))
                elif top[name] in ("let", "var"):
                    uses = len(re.findall(rf"(?<![.\w`]){name}\b(?!\s*:)", code))
                if uses:
                    found[node, home][name] += uses
        extended = {
            node: {each.owner[0].split(".")[0] for each in all if each.owner} for node, all in self.declared.items()
        }
        for home, each, _ in self.strange_members(imported):
            for node, code in self.code.items():
                if node == home:
                    continue
                uses = dotted[node][each.name]
                if each.kind == "func":
                    if words[node][each.name]:
                        uses += len(re.findall(rf"(?<![.\w`]){each.name}{CALL}", code))
                elif each.owner[0].split(".")[0] in extended[node]:
                    uses += words[node][each.name]
                if uses:
                    found[node, home][each.name] = uses
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


def tell_ties(nodes, arrows, circle):
    inside = {pair: names for pair, names in arrows.items() if pair[0] in circle and pair[1] in circle}
    rows = []
    for pair, names in inside.items():
        without = len(largest_circle(circle, set(inside) - {pair}))
        rows.append((without, sum(names.values()), pair, names))
    for without, _, (a, b), names in sorted(rows, key=lambda row: row[:3]):
        print(f"    {without:3}  {a} -> {b}: " + ", ".join(f"{name} ({uses})" for name, uses in sorted(names.items())))


def main():
    sys.setrecursionlimit(10000)
    ties = sys.argv[1:2] == ["--ties"]
    asked = sys.argv[2:] if ties else list(LIMITS)
    if (not ties and len(sys.argv) > 1) or not set(asked) <= set(LIMITS):
        sys.exit(__doc__)
    targets = {name: Target(name) for name in LIMITS}
    sizes, is_good = [], True
    for name in asked:
        target = targets[name]
        arrows = target.arrows([targets[other] for other in target.imports & set(targets) - {name}])
        circle = largest_circle(target.code, arrows)
        sizes.append(f"{name} {len(circle)}")
        if ties:
            print(f"{name}: {len(target.code)} nodes, largest circle {len(circle)}: {' '.join(circle)}")
            tell_ties(target.code, arrows, circle)
        if len(circle) > LIMITS[name]:
            is_good = False
            print(f"circles.py: {name} has a circle of {len(circle)}, the limit is {LIMITS[name]}", file=sys.stderr)
        elif len(circle) < LIMITS[name]:
            print(f"circles.py: the limit of {name} can go down to {len(circle)}")
    if not is_good:
        sys.exit(1)
    if not ties:
        print(f"ok circles: {', '.join(sizes)}")


main()
