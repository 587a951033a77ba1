"""Validation of a file's structure against `schemas/openvino-ir.xsd` by lxml, which continues after a fault that ends the reading."""

from __future__ import annotations

import os
from typing import Any, Final

from irshape.report.diagnostic import Diagnostic, Where

_NAME: Final = "openvino-ir.xsd"
_MOST: Final = 1_000
_LARGEST: Final = 64 << 20


def schema_path() -> str:
    """The path of the XSD: inside an installed package, or in `schemas/` of the repository."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    installed = os.path.join(package, "schemas", _NAME)
    return installed if os.path.exists(installed) else os.path.join(os.path.dirname(package), "schemas", _NAME)


def structural_faults(source: bytes, path: str | None = None) -> list[Diagnostic]:
    """A warning X202 for each place where an IR violates the schema, at most 1,000.

    Empty for text that is not well-formed, has a DOCTYPE or is larger than 64 MiB. A place has no column, and its line is the one where
    the start tag ends, because lxml records no more.
    """
    from lxml import etree

    if len(source) > _LARGEST:
        return []
    blanks = len(source) - len(source.lstrip())
    skipped = source[:blanks].count(b"\n")
    try:
        tree = etree.fromstring(source[blanks:], untrusted_parser())
    except (etree.XMLSyntaxError, ValueError):
        return []
    document: Any = tree.getroottree()
    if document.docinfo.doctype:
        return []
    schema = etree.XMLSchema(etree.parse(schema_path(), untrusted_parser()))
    schema.validate(tree)
    faults: dict[tuple[int, str], Diagnostic] = {}
    errors: Any = schema.error_log
    for error in errors:
        line = error.line + skipped
        if (line, error.message) not in faults:
            where = Where(path, line=line)
            faults[line, error.message] = Diagnostic("X202", error.message, where)
        if len(faults) == _MOST:
            break
    return list(faults.values())


def untrusted_parser(*, is_huge: bool = False) -> Any:
    """An lxml parser for untrusted text. `is_huge` allows any size and depth, for text that the reader has already accepted."""
    from lxml import etree

    names = ["load_dtd", "dtd_validation", "attribute_defaults", "recover", "remove_blank_text", "collect_ids"]
    off: dict[str, Any] = dict.fromkeys(names, False)
    options: dict[str, Any] = {"resolve_entities": "internal", "no_network": True, "huge_tree": is_huge, "remove_pis": not is_huge}
    return etree.XMLParser(**options, **off)
