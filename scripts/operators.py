#!/usr/bin/env python3
"""Prints src/onnx/operators_table.c from the operator schemas of the package onnx: usage: operators.py TARGET

The facts are ONNX's; nobody types them. `./dev docs` runs this where the package is there (.deps/venv), and
`./dev docs --check` compares. Exit status 77: the package is not there.
"""
import collections
import sys

try:
    from onnx import defs, helper
except ImportError as missing:
    print(f"skipped: {missing}; ./dev setup installs the package")
    sys.exit(77)

WIDTH = 120

# The letters of operators.h.
TYPES = {"tensor(bool)": "b", "tensor(double)": "d", "tensor(float)": "f", "tensor(int64)": "i", "tensor(int32)": "j",
         "tensor(string)": "s", "tensor(uint8)": "u", "tensor(uint64)": "q"}
KINDS = {"FLOAT": "f", "INT": "i", "STRING": "s", "TENSOR": "t", "GRAPH": "g", "FLOATS": "F", "INTS": "I", "STRINGS": "S",
         "TENSORS": "T", "GRAPHS": "G", "SPARSE_TENSOR": "p", "SPARSE_TENSORS": "P", "TYPE_PROTO": "y", "TYPE_PROTOS": "Y"}
OPTIONS = defs.OpSchema.FormalParameterOption

Row = collections.namedtuple("Row", "domain name since signature attributes")


def allowed(schema, parameter):
    """The types that a parameter may have."""
    for constraint in schema.type_constraints:
        if constraint.type_param_str == parameter.type_str:
            return constraint.allowed_type_strs
    return [parameter.type_str]


def letters(schema):
    """For each name of a type: its letter. One that stands only once says nothing; one that is never a tensor neither."""
    uses, order = collections.Counter(), []
    for parameter in [*schema.inputs, *schema.outputs]:
        many = parameter.option == OPTIONS.Variadic
        uses[parameter.type_str] += 2 if many and parameter.is_homogeneous else 0 if many else 1
        if parameter.type_str not in order and len(allowed(schema, parameter)) > 1:
            order.append(parameter.type_str)
    chosen = {}
    for parameter in [*schema.inputs, *schema.outputs]:
        types = allowed(schema, parameter)
        if len(types) == 1:
            chosen[parameter.type_str] = TYPES.get(types[0], "-")
        elif uses[parameter.type_str] > 1 and any(name.startswith("tensor(") for name in types):
            chosen[parameter.type_str] = "TUVWXYZ"[order.index(parameter.type_str)]
        else:
            chosen[parameter.type_str] = "-"
    return chosen


def place(parameter, chosen):
    if parameter.option == OPTIONS.Variadic:
        return (chosen[parameter.type_str] if parameter.is_homogeneous else "-") + ("+" if parameter.min_arity else "*")
    return chosen[parameter.type_str] + ("?" if parameter.option == OPTIONS.Optional else "")


def signature(schema):
    if schema.deprecated:
        return None
    chosen = letters(schema)
    return " ".join([*(place(i, chosen) for i in schema.inputs), ">", *(place(o, chosen) for o in schema.outputs)])


def attributes(schema):
    if schema.deprecated:
        return ""
    return " ".join(f"{name}:{KINDS[attribute.type.name]}{'!' * attribute.required}" for name, attribute in
                    sorted(schema.attributes.items()))


def rows():
    """Ordered by domain, name and opset; a row that says what the one before it says is left out."""
    last = None
    schemas = defs.get_all_schemas_with_history()
    for schema in sorted(schemas, key=lambda s: (s.domain.encode(), s.name.encode(), s.since_version)):
        row = Row(schema.domain, schema.name, schema.since_version, signature(schema), attributes(schema))
        if not last or row._replace(since=last.since) != last:
            yield row
            last = row


def literal(text, indent):
    """A text as one or more string literals, each on a line of its own when there are several."""
    pieces, line = [], ""
    for word in text.split(" "):
        if len(indent) + len(line) + len(word) + 6 > WIDTH:
            pieces.append(line + " ")
            line = word
        else:
            line = f"{line} {word}" if line else word
    return f"\n{indent}".join(f'"{piece}"' for piece in [*pieces, line])


def print_row(row):
    head = f'  {{ "{row.domain}", "{row.name}", {row.since}, ' + (f'"{row.signature}", ' if row.signature is not None else "NULL, ")
    whole = f'{head}"{row.attributes}" }},'
    return whole if len(whole) <= WIDTH else f"{head.rstrip()}\n    {literal(row.attributes, '    ')} }},"


def releases():
    """The first opset that needs each IR version."""
    first = {}
    for row in helper.VERSION_TABLE:
        first[row[1]] = min(row[2], first.get(row[1], row[2]))
    return sorted((opset, version) for version, opset in first.items())


def page():
    schemas = defs.get_all_schemas_with_history()
    newest = {domain: max(s.since_version for s in schemas if s.domain == domain) for domain in {s.domain for s in schemas}}
    newest[""] = defs.onnx_opset_version()
    yield "// operators_table.c: what ONNX's releases and operators look like, as data. Printed by scripts/operators.py from the"
    yield "// schemas in ONNX's own package (./dev docs); not to be edited. Place: onnx."
    yield '#include "onnx/operators.h"'
    yield ""
    yield "// clang-format off"
    yield f'_Static_assert(OXP__NEWEST_OPSET == {newest[""]}, "scripts/operators.py met another release of ONNX");'
    yield ""
    yield "const oxp__release oxp__releases[] = {"
    yield from (f"  {{ {opset}, {version} }}," for opset, version in releases())
    yield "};"
    yield "const size_t oxp__release_count = sizeof oxp__releases / sizeof *oxp__releases;"
    yield ""
    yield "const oxp__domain oxp__domains[] = {"
    yield from (f'  {{ "{domain}", {version} }},' for domain, version in sorted(newest.items()))
    yield "};"
    yield "const size_t oxp__domain_count = sizeof oxp__domains / sizeof *oxp__domains;"
    yield ""
    yield "const oxp__operator oxp__operators[] = {"
    yield from map(print_row, rows())
    yield "};"
    yield "const size_t oxp__operator_count = sizeof oxp__operators / sizeof *oxp__operators;"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    text = "\n".join(page()) + "\n"
    with open(sys.argv[1], "w", encoding="utf-8") as target:
        target.write(text)
