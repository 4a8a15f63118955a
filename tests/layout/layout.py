#!/usr/bin/env python3
"""Checks the rules of the house that a compiler does not know: which part may include which, how
large files and functions may be, which words are banned and what to use instead.

    layout.py --list             the names of the rules
    layout.py --check RULE ROOT  looks at the project; exits 1 and names every violation
    layout.py --prove RULE       runs the rule on its planted violations; exits 1 if it misses one

A rule is a function from a tree (path -> text) to its violations. Its plants stand in plants.py:
a rule without plants is refused, because a check that cannot fail proves nothing.
"""

import posixpath
import re
import sys
from pathlib import Path

FILE_LINES_MAX = 600
FUNCTION_LINES_MAX = 70
COLUMNS_MAX = 100

CODE = (".cpp", ".hpp", ".h")
TEXT = CODE + (".cmake", ".in", ".java", ".json", ".md", ".py", ".sh", ".txt", ".sql", ".xml",
               "/dev", "/run")
OTHERS = ("/.clang-format", "/.clang-tidy", "/.editorconfig", "/.gitignore", ".map", ".css", ".js")

RULES = {}


def rule(check):
    """Registers a rule under its function's name."""
    RULES[check.__name__.replace("_", "-")] = check
    return check


def read_tree(root):
    """The project's files; those of unknown kinds without their text. Build trees, and what a tool
    put there, are not the project's."""
    tree = {}
    for path in sorted(Path(root).rglob("*")):
        name = path.relative_to(root).as_posix()
        top = name.split("/")[0]
        if top == "build" or top.startswith("build-") or top in (".git", ".cache", "LICENSE"):
            continue
        if path.is_file() and "/corpus/" not in name:
            known = ("/" + name).endswith(TEXT)
            tree[name] = path.read_text(encoding="utf-8", errors="replace") if known else ""
    return tree


def code_in(tree, *folders):
    """(path, text) of the C++ files under the folders."""
    for path, text in tree.items():
        if path.endswith(CODE) and path.startswith(tuple(f + "/" for f in folders)):
            yield path, text


# --- Layers -----------------------------------------------------------------------------------

# The parts of the library, by folder, and what each may include besides itself and the C++
# standard library. `system` is the C library and the kernel's interface. Everything else is the
# first folder or the whole name of a third party's header.
EVERY_STORE = {"include", "support", "runtime", "system", "boost"}
LAYERS = {
    "include": set(),
    # Clock, random numbers, fork: where the kernel is asked, so that the rest need not.
    "support": {"include", "system"},
    "core": {"include", "support"},
    "kinds": {"include", "support", "core", "session"},
    "runtime": {"include", "support", "system", "boost"},
    # Puts core, runtime and stores together into a client.
    "session": {"include", "support", "core", "runtime", "system"},
    # The test kit that users get: the memory store on a virtual clock.
    "testing": {"include", "support", "core", "session", "stores/memory"},
    # The rules of a lease table, shared by the stores that keep one.
    "stores/lease_table": {"include", "support"},
    "stores/memory": EVERY_STORE | {"stores/lease_table"},
    "stores/redis": EVERY_STORE | {"stores/lease_table", "hiredis", "openssl"},
    "stores/sqlite": EVERY_STORE | {"stores/lease_table", "sqlite3.h"},
    # Users of the library see its public headers only.
    "cli": {"include", "system", "boost", "CLI", "fmt"},
    # A program of its own, which keeps its goods in SQLite as an application does.
    "cli/demo": {"include", "system", "boost", "CLI", "fmt", "cli", "sqlite3.h"},
    "examples": {"include", "system", "boost"},
}


def part_of_file(path):
    """The part that a file belongs to: `include`, `core`, `stores/sqlite`, `cli`..."""
    if path.startswith("include/"):
        return "include"
    return part_of_source(path.removeprefix("src/"))


def part_of_source(path):
    folders = path.split("/")
    two = "/".join(folders[:2])
    return two if folders[0] == "stores" or two in LAYERS else folders[0]


def part_of_include(name, path, tree):
    """The part, or the third party, that an included header belongs to."""
    if name.startswith("holdfast/"):
        return "include"
    beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
    if beside in tree or name in tree:
        return part_of_file(beside if beside in tree else name)
    part = part_of_source(name)
    if part in LAYERS or part.startswith("stores/"):
        return part
    if "." not in name and "/" not in name:
        return "std"
    if name in ("sqlite3.h",):
        return name
    if name.split("/")[0] in ("sys", "linux", "netinet", "arpa") or "/" not in name:
        return "system"
    return name.split("/")[0]


@rule
def layers(tree):
    """Arrows point one way: kinds -> core -> store.hpp <- stores/<store> -> runtime."""
    for path, text in code_in(tree, "include", "src", "cli", "examples"):
        part = part_of_file(path)
        if part not in LAYERS:
            yield path, 1, f"LAYERS does not say what '{part}' may include"
            continue
        for number, name in includes(text):
            wanted = part_of_include(name, path, tree)
            if wanted not in LAYERS[part] | {part, "std"}:
                yield path, number, f"{part} must not include <{name}> ({wanted})"


def includes(text):
    for number, line in enumerate(text.splitlines(), 1):
        found = re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line)
        if found:
            yield number, found.group(1)


# --- Words ------------------------------------------------------------------------------------

OUR_CODE = ("include", "src", "cli", "tests", "bench", "examples")

# In code: where, what, and what to use instead.
BANNED = [
    (("include", "src", "cli"), r"\bs?rand\(", "use the seeded generator"),
    (("include", "src"), r"\bsystem_clock\b", "use boot_clock: the wall clock can be set"),
    (("src/core", "src/kinds", "src/stores/lease_table"), r"\b(steady|boot)_clock::now\b",
     "ask the host for the time, so that the simulation can give its own"),
    (("include", "src"), r"std::(cerr|cout|clog)\b|\bf?printf\(", "tell the observer"),
    (("include", "src"), r"\bsleep_(for|until)\b|\b(u|nano)?sleep\(", "use the loop's timer"),
    (("tests",), r"\bsleep_(for|until)\b|\b(u|nano)?sleep\(",
     "move the virtual clock, or wait for the event with a bound"),
]

# (file, word) pairs that may be, with the reason. This list only shrinks.
EXCUSED = {
    ("src/stores/sqlite/database.cpp", "nanosleep("):
        "SQLite's busy handler can only wait by waiting: nothing tells when a file lock is free",
}


@rule
def words(tree):
    """Banned words, each with its replacement."""
    for folders, pattern, instead in BANNED:
        for path, text in code_in(tree, *folders):
            for number, word in search(pattern, without_literals(text, comments="go")):
                if (path, word) not in EXCUSED:
                    yield path, number, f"'{word}' is banned: {instead}"


@rule
def open_ends(tree):
    """What is left to do has an issue."""
    for path, text in code_in(tree, *OUR_CODE):
        text = without_literals(text, comments="stay")
        for number, word in search(r"\b(TODO|FIXME|XXX)\b(?!\(#\d+\))", text):
            yield path, number, f"'{word}': write TODO(#issue), or do it"


def search(pattern, text):
    """(line, what was found), at most once a line."""
    for number, line in enumerate(text.splitlines(), 1):
        found = re.search(pattern, line)
        if found:
            yield number, found.group(0)


# --- Sizes and shape --------------------------------------------------------------------------


@rule
def file_size(tree):
    for path, text in code_in(tree, *OUR_CODE):
        lines = text.count("\n")
        if lines > FILE_LINES_MAX:
            yield path, lines, f"{lines} lines; {FILE_LINES_MAX} is the end"


@rule
def function_size(tree):
    for path, text in code_in(tree, *OUR_CODE):
        for number, lines in functions(text):
            if lines > FUNCTION_LINES_MAX:
                yield path, number, f"a function of {lines} lines; {FUNCTION_LINES_MAX} is the end"


def functions(text):
    """(line, length) of each outermost function, found by its braces."""
    open_braces = []
    head_start = 0
    text = without_literals(text, comments="go")
    for at, char in enumerate(text):
        if char == "{":
            line = text.count("\n", 0, at) + 1
            inside = any(body for body, _ in open_braces)
            open_braces.append((not inside and opens_function(text[head_start:at]), line))
        elif char == "}" and open_braces:
            body, line = open_braces.pop()
            if body:
                yield line, text.count("\n", 0, at) + 2 - line
        if char in "{};":
            head_start = at + 1


def opens_function(head):
    head = re.sub(r"^\s*#.*$", "", head, flags=re.MULTILINE)
    head = re.sub(r"^\s*(public:|private:|protected:)", "", head)
    head = re.sub(r"^\s*template\s*<[^{;]*?>\s*(?=\w)", "", head).strip()
    if re.match(r"(namespace|class|struct|enum|union|extern)\b", head):
        return False
    return ")" in head


LITERALS = re.compile(
    r'(?P<comment>//[^\n]*|/\*.*?\*/)'
    r'|R"(?P<mark>\w*)\(.*?\)(?P=mark)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'",
    re.DOTALL)


def without_literals(text, comments):
    """Strings, and comments unless they are to stay, become blanks; lines keep their numbers."""
    def blank(found):
        if comments == "stay" and found.group("comment"):
            return found.group(0)
        return re.sub(r"[^\n]", " ", found.group(0))
    return LITERALS.sub(blank, text)


@rule
def lines(tree):
    for path, text in tree.items():
        for number, line in enumerate(text.split("\n"), 1):
            if path.endswith(CODE) and len(line) > COLUMNS_MAX:
                yield path, number, f"{len(line)} columns; {COLUMNS_MAX} is the end"
            if "\t" in line:
                yield path, number, "a tab"
            if line != line.rstrip():
                yield path, number, "space at the end of the line"
        if text and not text.endswith("\n"):
            yield path, text.count("\n") + 1, "no newline at the end of the file"
        if text.endswith("\n\n"):
            yield path, text.count("\n"), "empty lines at the end of the file"


@rule
def header_guard(tree):
    for path, text in tree.items():
        if path.endswith(".hpp") and "\n#pragma once\n" not in "\n" + text:
            yield path, 1, "no #pragma once"


# --- Nothing forgotten ------------------------------------------------------------------------


@rule
def kinds(tree):
    """What a tool or a program left behind is of a kind that nobody writes."""
    for path in tree:
        if not ("/" + path).endswith(TEXT + OTHERS):
            yield path, 1, "a file of an unknown kind: made by something, not written?"


@rule
def listed(tree):
    """Sources are listed, not globbed; so a file that no list names is never built."""
    for path, text in code_in(tree, *OUR_CODE):
        if path.endswith(".cpp") or path.startswith("include/"):
            if not any(names(tree, lists, path) for lists in lists_for(path, tree)):
                yield path, 1, "no CMakeLists.txt names it"


def lists_for(path, tree):
    """All of the same top folder: what tests share is named where it is used."""
    top = "src/" if path.startswith("include/") else path.split("/")[0] + "/"
    return [name for name in tree if name.startswith(top) and name.endswith("/CMakeLists.txt")]


def names(tree, lists, path):
    """The list names the file relative to itself, or by its name without the ending."""
    within = posixpath.relpath(path, posixpath.dirname(lists))
    if path.startswith("include/"):
        within = path
    word = r"(?<![\w./-])(\S*[}/])?%s(?![\w./-])"
    return any(re.search(word % re.escape(name), tree.get(lists, ""))
               for name in (within, within[:-4]))


@rule
def links(tree):
    """Relative links in the documentation lead somewhere."""
    for path, text in tree.items():
        if not path.endswith(".md"):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            for target in re.findall(r"\]\(([^)#\s]+)", line):
                if re.match(r"[a-z]+:", target):
                    continue
                place = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
                if place != "LICENSE" and not any(p == place or p.startswith(place + "/")
                                                  for p in tree):
                    yield path, number, f"the link to {target} leads nowhere"


@rule
def examples(tree):
    """C++ in the documentation is part of an example, which is built and run."""
    programs = [unindented(text) for path, text in code_in(tree, "examples")]
    for path, text in tree.items():
        if path.endswith(".md"):
            for found in re.finditer(r"^```cpp\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
                if not any(unindented(found.group(1)) in program for program in programs):
                    number = text.count("\n", 0, found.start()) + 1
                    yield path, number, "this block is in none of the examples"


def unindented(text):
    """A block may stand deeper in the program than on the page."""
    return "\n" + "\n".join(line.strip() for line in text.splitlines()) + "\n"


# --- The command ------------------------------------------------------------------------------


def prove(name):
    """Every plant of the rule is found, and nothing of its clean tree."""
    from plants import CLEAN, PLANTS

    found = [f"reported in the clean tree: {v}" for v in RULES[name](CLEAN)]
    plants = PLANTS.get(name, [])
    if not plants:
        found.append("has no planted violation")
    for plant in plants:
        reported = {path for path, _, _ in RULES[name]({**CLEAN, **plant})}
        if reported != set(plant):
            found.append(f"planted in {sorted(plant)}, reported in {sorted(reported)}")
    return found


def main(arguments):
    if arguments == ["--list"]:
        print("\n".join(RULES))
        return 0
    command, name = arguments[:2]
    if command == "--prove":
        found = prove(name)
    else:
        found = [f"{path}:{line}: {text}" for path, line, text in RULES[name](
            read_tree(arguments[2]))]
    print("\n".join(found) or "nothing found")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
