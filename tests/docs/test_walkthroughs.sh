#!/bin/sh
# test_walkthroughs.sh SOURCE WORK: follows docs/add-a-layer.md, add-a-profile.md and add-a-format.md in a copy of the source tree:
# takes the files that the pages show, adds them, builds, and sees that they work and that nothing else had to change.
set -eu
source=$1
work=$2
tree=$work/tree
build=$work/build
command=$build/onnxport

say() { printf '== %s\n' "$*"; }
die() {
  printf 'FAILED: %s\n' "$*"
  exit 1
}

# Writes every block of a page that stands under a line like `src/layers/cube.c`: to that file of the tree.
extract() { # PAGE
  awk -v tree="$tree" '
    /^`[a-z0-9_.\/]+`:$/ { target = substr($0, 2, length($0) - 3); next }
    /^```[a-z]/ && target { inside = 1; print target; next }
    /^```$/ { if (inside) close(tree "/" target); inside = 0; target = ""; next }
    inside { print > (tree "/" target) }
  ' "$1"
}

say "copying the source tree"
rm -rf "$tree"
mkdir -p "$tree" "$build"
(cd "$source" && tar cf - --exclude=./build --exclude='./build-*' --exclude=./.git --exclude=./.deps --exclude=./tests/data .) |
  (cd "$tree" && tar xf -)
mkdir -p "$tree/tests/data"

for page in layer profile format; do
  added=$(extract "$source/docs/add-a-$page.md") || die "add-a-$page.md: no file could be taken"
  [ -n "$added" ] || die "add-a-$page.md shows no file"
  for file in $added; do
    [ ! -e "$source/$file" ] || die "add-a-$page.md shows $file, which exists already"
    say "add-a-$page.md adds $file ($(wc -l <"$tree/$file") lines)"
  done
done

say "building"
if ! { cmake -S "$tree" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Debug && ninja -C "$build" -j2 onnxport test_kinds; } >"$work/log" 2>&1; then
  tail -n 40 "$work/log"
  die "the copy does not build"
fi

say "nothing else changed"
diff -rq "$source/src" "$tree/src" | grep -v '^Only in .*/tree/' && die "the walk-throughs changed a file that was there"

say "the new kind"
"$command" layers | grep -w cube || die "onnxport layers does not list cube"
status=0
"$build/tests/test_kinds" --kind cube --cases 20 || status=$?
# 77: everything but the comparison with ONNX Runtime, which is not here, agrees.
[ "$status" -eq 0 ] || [ "$status" -eq 77 ] || die "the random driver fails for cube"
"$build/tests/test_kinds" --kind cube --cases 1 --break cube >/dev/null && [ "$status" -eq 0 ] &&
  die "the random driver passes a spoiled cube"

cd "$work"
say "the new profile"
"$command" profiles | grep -w compact || die "onnxport profiles does not list compact"
cnn=$source/examples/b_cnn.netcl
"$command" export "$cnn" --input-shape 3x32x32 --profile compact -o compact.onnx || die "export --profile compact"
"$command" export "$cnn" --input-shape 3x32x32 -o default.onnx --quiet || die "export"
[ "$(wc -c <compact.onnx)" -lt "$(wc -c <default.onnx)" ] || die "compact.onnx is not smaller than default.onnx"

say "the new format"
"$command" formats | grep -w chain || die "onnxport formats does not list chain"
# The page's example, with the new kind in it.
awk '/^```json$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$source/docs/add-a-format.md" | sed 's/relu/cube/' >two.chain
"$command" export two.chain -o two.onnx || die "two.chain cannot be exported"
"$command" inspect two.onnx | grep -w Mul || die "two.onnx has no Mul"
not_exported() { # STATUS ARGUMENT...
  wanted=$1 status=0
  shift
  "$command" export "$@" -o bad.onnx 2>bad.txt || status=$?
  cat bad.txt
  [ "$status" -eq "$wanted" ] || die "exit status $status"
  [ ! -e bad.onnx ] || die "a file was written"
}
bad_is_refused() { not_exported 4 bad.chain; }
refused() { # PATTERN WORD: a file in which one word of the example is wrong
  sed "s/$1/$2/" two.chain >bad.chain
  bad_is_refused
}
refused '"in_features": 3' '"in_features": "three"'
refused '"values": \[1, 2' '"values": [1'
refused '"bias": {' '"bios": {'
# A parameter without a default that the reader did not look for: found by the network, and no division by it.
printf '{"chain":1,"input":[1,8,8],"layers":[{"kind":"max_pool2d","parameters":{"kernel_shape":2}}]}' >bad.chain
bad_is_refused
grep -q 'parameter "strides" has no default' bad.txt || die "another reason"
printf '{"chain":1,"layers":[{"kind":"relu"}]}' >bad.chain
bad_is_refused
grep -q 'a shape is missing' bad.txt || die "another reason"
# The file holds the input's size: the same may be said again, and nothing else.
"$command" export two.chain --input-shape 3 -o same.onnx || die "the file's own size is refused"
cmp two.onnx same.onnx || die "the file's own size makes another model"
for shape in 4 3x1; do
  not_exported 2 two.chain --input-shape "$shape"
  grep -q -- '--input-shape says .* for one sample, the file says (batch, 3)' bad.txt || die "another reason"
done

say "both against ONNX Runtime"
compare() { # NETWORK MODEL OPTION...: exit status 6 is "ONNX Runtime is not here"
  status=0
  "$command" verify "$@" || status=$?
  [ "$status" -eq 0 ] || [ "$status" -eq 6 ] || die "$2 differs from its network"
}
compare "$cnn" compact.onnx --input-shape 3x32x32
compare two.chain two.onnx
say "passed"
