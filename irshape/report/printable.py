"""Text of a file, as a report may print it."""


def escape(text: str) -> str:
    """Text from a file with every character escaped that is not printable: controls, newlines, bidi marks, lone surrogates."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else character.encode("unicode_escape").decode() for character in text)
