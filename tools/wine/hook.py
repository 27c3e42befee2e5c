#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes Wine's ntdll ask /dev/wsquery: edits a Wine source tree in place.

The places are found by the names of functions and variables. Each must be found
exactly once, or nothing is changed: then this Wine is too different, and the
message says where. A tree that has been edited is left as it is.
"""

import pathlib
import re
import sys

OURS = pathlib.Path(__file__).resolve().parent / "ntdll"
UNIX = "dlls/ntdll/unix/"


class Stop(Exception):
    pass


def ours(name):
    """A file of ours that is inserted, without the two comments that are for its readers here."""
    return "".join((OURS / name).read_text().splitlines(keepends=True)[2:])


class Source:
    def __init__(self, tree, name):
        self.path = tree / name
        self.name = name
        try:
            self.text = self.path.read_text(encoding="utf-8", errors="surrogateescape")
        except FileNotFoundError:
            raise Stop(f"{name}: no such file; is this a Wine source tree?") from None

    def find(self, what, pattern, start=0, end=None):
        end = len(self.text) if end is None else end
        found = list(re.compile(pattern, re.M).finditer(self.text, start, end))
        if len(found) != 1:
            raise Stop(f"{self.name}: {what}: found {len(found)} times, wanted once")
        return found[0]

    def function(self, name):
        """Start and end of a function's definition; the end is behind its closing brace."""
        head = self.find(f"function {name}", rf"^static [\w *]*\b{name}\([^;{{]*\)\n\{{\n")
        end = self.text.find("\n}\n", head.end())
        if end < 0:
            raise Stop(f"{self.name}: function {name} has no end")
        return head.start(), end + 3

    def insert(self, position, text):
        self.text = self.text[:position] + text + self.text[position:]

    def write(self):
        self.path.write_text(self.text, encoding="utf-8", errors="surrogateescape")


def edit_virtual(source):
    # From the end to the start, so that what was found stays where it is.
    call = source.find("a caller of get_working_set_ex", r"return (get)_working_set_ex\(")
    _, end = source.function("get_working_set_ex")
    # A view gets its protections when it is made, or when it replaces a placeholder.
    protects = []
    for name in ("create_view", "map_view"):
        start, stop = source.function(name)
        protects.append(source.find(f"a view's protections in {name}",
                                    r"^( *)view->protect\s*=\s*(\w+)\b.*;\n", start, stop))
    create, replace = protects
    tree = source.find("the tree of views", r"^static struct wine_rb_tree views_tree;.*\n")
    if not tree.end() < create.end() < replace.end() < end < call.start():
        raise Stop(f"{source.name}: functions are in another order than known")

    source.text = source.text[:call.start(1)] + "query" + source.text[call.end(1):]
    source.insert(end, "\n" + ours("virtual.insert.c").rstrip("\n") + "\n")
    for protect in (replace, create):
        source.insert(protect.end(), f"{protect[1]}if ({protect[2]} & SEC_NOCACHE) nocache_views = TRUE;\n")
    source.insert(tree.end(), "static BOOL nocache_views;  /* whether there ever was a view with SEC_NOCACHE */\n")


def edit_private(source):
    place = source.find("fill_vm_counters", r"^extern void fill_vm_counters\(.*\n(?:extern .*\n)*\n")
    source.insert(place.end(), ours("unix_private.insert.h"))


def edit_makefile(source):
    place = source.find("unix/virtual.c in SOURCES", r"^(\s+)unix/virtual\.c( \\)?\n")
    if place.group(2):
        source.insert(place.end(), f"{place.group(1)}unix/wsquery.c \\\n")
    else:
        source.text = (source.text[:place.end() - 1] + f" \\\n{place.group(1)}unix/wsquery.c\n" +
                       source.text[place.end():])


def edit_configure(source):
    place = source.find("check for linux/wireless.h", r"^(\s+)linux/wireless\.h \\\n")
    source.insert(place.end(), f"{place.group(1)}linux/wsquery.h \\\n")


EDITS = (
    (UNIX + "virtual.c", edit_virtual),
    (UNIX + "unix_private.h", edit_private),
    ("dlls/ntdll/Makefile.in", edit_makefile),
    ("configure.ac", edit_configure),
)


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print("Usage: hook.py WINE-SOURCE\n\n" + __doc__, end="")
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    tree = pathlib.Path(sys.argv[1])
    try:
        sources = []
        if (tree / UNIX / "wsquery.c").exists():
            raise Stop(f"{UNIX}wsquery.c: already there")
        for name, edit in EDITS:
            source = Source(tree, name)
            edit(source)
            sources.append(source)
    except Stop as stop:
        print(f"hook.py: {stop}; nothing was changed", file=sys.stderr)
        return 1
    for source in sources:
        source.write()
    (tree / UNIX / "wsquery.c").write_text((OURS / "wsquery.c").read_text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
