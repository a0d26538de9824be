#!/usr/bin/env bash
# symbols.sh: the library touches no signals, locale, environment, output streams or process: symbols.sh LIBRARY.a [PROGRAM]
# No object may refer to what changes them; getenv and localeconv only look. A program that was built without sanitizers is also
# looked at for the hardening of its build.
set -euo pipefail

denied='setlocale newlocale uselocale bindtextdomain
signal sigaction sigprocmask pthread_sigmask sigqueue raise kill alarm setitimer
setenv putenv unsetenv clearenv environ chdir fchdir umask setrlimit setrlimit64 setpriority nice
abort exit _exit quick_exit atexit __assert_fail
printf vprintf puts putchar putc fputs fputc perror stdout stderr stdin __printf_chk __vprintf_chk
system popen fork vfork posix_spawn execv execve execvp execl execlp dup2
rand srand random strtok strerror localtime gmtime ctime tmpnam mktemp'

# The trial load of a runtime library that may kill its process happens in a child (see ort_library.c): what is done there is done to
# the child. Each line: object, symbol.
allowed='ort_library.c.o fork
ort_library.c.o _exit
ort_library.c.o dup2
ort_library.c.o kill
ort_library.c.o setrlimit64
ort_library.c.o signal'

used=$(nm -A -u "$1" | awk '{ split($1, part, ":"); print part[length(part) - ($1 ~ /:$/)], $NF }' | sort -u)
[ "$(wc -l <<<"$used")" -gt 100 ] || { echo "$1: hardly any symbols were found" >&2; exit 1; }
status=0
found=$(awk 'NR == FNR { for (i = 1; i <= NF; i++) denied[$i]; next } $2 in denied' <(echo "$denied") <(echo "$used"))
while read -r line; do
  [ -z "$line" ] || grep -qxF "$line" <<<"$allowed" || { echo "refers to what it must not touch: $line" >&2; status=1; }
done <<<"$found"
while read -r line; do # an exception that is not needed any more
  if grep -q "^${line% *} " <<<"$used" && ! grep -qxF "$line" <<<"$used"; then
    echo "the exception is not needed: $line" >&2
    status=1
  fi
done <<<"$allowed"

hardened() { # PATTERN TEXT MEANING
  grep -q "$1" <<<"$2" || { echo "$program: $3" >&2; status=1; }
}
program=${2:-}
symbols=$([ -z "$program" ] || nm -D "$program")
if [ -n "$program" ] && ! grep -q __asan_ <<<"$symbols"; then
  headers=$(readelf -hldW "$program")
  hardened 'Type: *DYN' "$headers" 'not position-independent'
  hardened GNU_RELRO "$headers" 'no read-only relocations'
  hardened BIND_NOW "$headers" 'symbols are bound late'
  hardened '_chk@' "$symbols" 'no fortified functions'
  hardened '__stack_chk_fail@' "$symbols" 'no stack protector'
fi
exit $status
