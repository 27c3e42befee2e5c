#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Turns what guest.sh printed for a part of wine-check into a table and a verdict.

Usage: report.py PART FILE. The exit status is 1 if something is worse than it was.
"""

import re
import sys

WAYS = ("sequential", "reverse", "each second", "page by page")
ROWS = [(kind, way) for kind in ("anon", "file") for way in WAYS]
# Milliseconds on one computer, as published with the change that made Wine read pagemap through
# a buffer: on Windows, before and after.
PUBLISHED = dict(zip(ROWS, (
    (1.7, 166.2, 3.5), (1.0, 166.3, 3.2), (0.5, 83.7, 1.8), (27.5, 197.6, 74.7),
    (2.7, 161.5, 2.4), (2.5, 161.4, 2.3), (1.3, 81.1, 1.4), (45.3, 191.2, 71.6),
)))


def sections(name):
    """What was printed for each Wine: pairs of its name and its lines."""
    result = []
    with open(name, encoding="utf-8", errors="replace") as file:
        for line in file.read().splitlines():
            if line.startswith("== "):
                result.append((line[3:], []))
            elif result:
                result[-1][1].append(line)
    return result


def minima(name):
    best = {}
    for which, lines in sections(name):
        for line in lines:
            match = re.match(r"(anon|file) (.*?) +[\d.]+ ms +([\d.]+) ns an entry", line)
            if match:
                key = which, match[1], match[2]
                best[key] = min(best.get(key, 1e300), float(match[3]))
    missing = [key for key in ((which, *row) for row in ROWS for which in ("before", "buffered", "patched"))
               if key not in best]
    if missing:
        sys.exit(f"report.py: {name}: nothing for {missing[0]}")
    return best


def times(name, unit):
    best = minima(name)
    faster = beaten = 0
    print(f"                     published, ms               here, {unit} an entry           patched faster than")
    print("                   Windows before buffered     before buffered  patched      before  buffered"
          "  (Windows than buffered)")
    for row in ROWS:
        windows, before, buffered = PUBLISHED[row]
        here = [best[which, *row] for which in ("before", "buffered", "patched")]
        gain, margin = here[1] / here[2], buffered / windows
        faster += gain > 1
        beaten += gain > margin
        print(f"{row[0]} {row[1]:13} {windows:7} {before:6} {buffered:8} {here[0]:10.0f} {here[1]:8.0f}"
              f" {here[2]:8.0f} {here[0] / here[2]:10.1f}x {gain:8.1f}x  {margin:8.1f}x")
    print(f"{faster} of {len(ROWS)} rows faster than buffered, {beaten} by more than Windows is")
    return faster == len(ROWS)


def bench(name):
    print("Times; emulation makes them mean nothing but beside each other. Minima of alternating runs.")
    return times(name, "ns")


def instructions(name):
    print("Instructions, of the program, Wine and the kernel. They repeat.")
    return times(name, "instr.")


def psapi(name):
    print("Wine's own tests of psapi")
    failed, good = {}, True
    for which, lines in sections(name):
        failed[which] = {re.sub(r"\b[0-9a-f]{8,}\b", "", line) for line in lines
                         if re.search(r"Test failed|Test succeeded inside todo|unhandled exception", line)}
        totals = [line.split(":", 2)[2].strip() for line in lines if "tests executed" in line]
        print(f"  {which:9} {totals[0] if totals else 'did not end'}")
        good &= bool(totals)
    new = failed.get("patched", set()) - failed.get("buffered", set())
    for line in sorted(new):
        print(f"  new: {line}")
    good &= not new and "patched" in failed and "buffered" in failed
    print("  no test that passed fails" if good else "  WORSE than before")
    return good


def truth(name):
    print("What is said of pages, and of other processes")
    results = {}
    for which, lines in sections(name):
        for line in lines:
            match = re.match(r"(not ok|ok) (\d+) - (.*)", line)
            if match:
                results.setdefault(int(match[2]), {})[which] = match[1], match[3]
            elif line.startswith("1.."):
                results.setdefault("plan", {})[which] = line, line
    plan = results.pop("plan", {})
    good = set(plan) == {"buffered", "patched"} and plan["patched"][0] == f"1..{len(results)}"
    print("  buffered patched")
    for number in sorted(results):
        buffered, patched = (results[number].get(which, ("not ok", "not reached"))
                             for which in ("buffered", "patched"))
        good &= patched[0] == "ok"
        print(f"  {buffered[0]:8} {patched[0]:7} {patched[1]}")
        if buffered[0] != "ok" and buffered[1] != patched[1]:
            print(f"  {'':16} but buffered: {buffered[1]}")
    return good


def resident(name):
    print("A browser's counter of resident bytes")
    good, seen = True, set()
    for which, lines in sections(name):
        print(f"  {which:9} {' '.join(lines)}")
        match = re.match(r"(\d+) of \d+ pages resident, (\d+) touched", " ".join(lines))
        good &= match is not None and match[1] == match[2]
        seen.add(which)
    good &= len(seen) == 3
    print("  all count exactly what was touched" if good else "  WRONG")
    return good


def main():
    parts = {"bench": bench, "instructions": instructions, "psapi": psapi, "truth": truth,
             "resident": resident}
    if len(sys.argv) != 3 or sys.argv[1] not in parts:
        print(__doc__, end="")
        return 2
    return 0 if parts[sys.argv[1]](sys.argv[2]) else 1


if __name__ == "__main__":
    sys.exit(main())
