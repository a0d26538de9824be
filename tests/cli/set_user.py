#!/usr/bin/env python3
"""set_user.py ONNXPORT: runs a copy that belongs to somebody else and has his rights, with variables that name a library and a folder.

Only root can make one; exit status 77: skipped.
"""
import os
import shutil
import subprocess
import sys

NOBODY = 65534


def words(command, **environment):
    """Standard output and error of `COMMAND engines`. In a build with sanitizers the leak check fails in such a process, whatever it does."""
    found = subprocess.run([command, "engines", "--json"], env={**os.environ, **environment}, capture_output=True, check=False)
    if b'"engines"' not in found.stdout:
        sys.exit(found.stderr.decode())
    return (found.stdout + found.stderr).decode()


def main():
    if os.geteuid() != 0:
        print("skipped: only root can make a program that runs as somebody else")
        return 77
    here = os.path.abspath("onnxport")
    shutil.copy(sys.argv[1], here)
    os.chown(here, NOBODY, NOBODY)
    if "/nowhere.so" not in words(here, ONNXPORT_ORT_LIBRARY="/nowhere.so"):
        sys.exit("the variable means nothing in an ordinary process")
    os.chmod(here, 0o4755)
    if os.statvfs(here).f_flag & os.ST_NOSUID:
        print("skipped: this file system gives nobody else's rights")
        return 77
    if "/nowhere.so" in words(here, ONNXPORT_ORT_LIBRARY="/nowhere.so"):
        sys.exit("whoever starts the program chooses a library for somebody else")
    return 0


if __name__ == "__main__":
    sys.exit(main())
