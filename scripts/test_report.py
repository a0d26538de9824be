#!/usr/bin/env python3
"""Says what a run of ctest skipped and why, and counts: usage: test_report.py JUNIT.xml

A test that skips itself, or single cases in it, prints "skipped: WHY" first. Skips with the same reason are put together.
"""
import re
import sys
import xml.etree.ElementTree

SHOWN = 5


def reasons(output):
    return re.findall(r"\bskipped: (.+)", output) or ["no reason given"]


def main():
    suite = xml.etree.ElementTree.parse(sys.argv[1]).getroot()
    count = {key: int(suite.get(key)) for key in ("tests", "failures", "skipped")}
    cases = 0
    why = {}
    for test in suite.iter("testcase"):
        output = test.findtext("system-out") or ""
        inside = re.findall(r"^\[  SKIPPED \] (\S+)", output, re.M)
        inside = sorted(set(inside))
        cases += len(inside)
        if test.find("skipped") is not None:
            why.setdefault(reasons(output)[-1], []).append(test.get("name"))
        elif inside:
            why.setdefault("; ".join(dict.fromkeys(reasons(output))), []).extend(f"{test.get('name')}/{case}" for case in inside)
    for reason, names in why.items():
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        print(f"== skipped {', '.join(names[:SHOWN])}{more}: {reason}", file=sys.stderr)
    passed = count["tests"] - count["failures"] - count["skipped"]
    print(f"== {passed} passed, {count['failures']} failed, {count['skipped']} skipped; single cases skipped inside unit tests: {cases}",
          file=sys.stderr)


if __name__ == "__main__":
    main()
