"""Which encoding a text file has, and the same text as UTF-8, piece by piece."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from ..model.errors import BadFileError

CHUNK = 1 << 20
_ESCAPED_BYTES = re.compile("[\udc80-\udcff]")
_HALF_PAIR = re.compile("\udced[\udca0-\udcbf][\udc80-\udcbf]")
_NON_ASCII = re.compile("[^\x00-\x7f]")


@dataclass(frozen=True)
class Encoding:
    """A codec's name as people write it, and how many bytes of BOM to skip."""

    name: str
    bom: int = 0


def detect(handle: BinaryIO) -> Encoding:
    """UTF-8 if all of it is; UTF-16 by BOM or by where its zero bytes are; else Windows-1252."""
    handle.seek(0)
    head = handle.read(4096)
    if head.startswith(codecs.BOM_UTF16_LE):
        return Encoding("utf-16-le", 2)
    if head.startswith(codecs.BOM_UTF16_BE):
        return Encoding("utf-16-be", 2)
    if wide := _utf16_without_bom(head):
        return Encoding(wide)
    if b"\x00" in head:
        raise _not_text()
    utf8 = Encoding("utf-8", 3 if head.startswith(codecs.BOM_UTF8) else 0)
    broken = first_undecodable(handle, utf8)
    if broken is None:
        return utf8
    if utf8.bom or _is_mostly_utf8(handle):
        raise _undecodable("utf-8", broken)
    return Encoding("cp1252")


def utf8_chunks(handle: BinaryIO, encoding: Encoding) -> Iterator[bytes]:
    """The text from its beginning, as UTF-8 without BOM. A chunk may end in the middle of a character."""
    for data in _raw_chunks(handle, encoding) if encoding.name == "utf-8" else _decoded_chunks(handle, encoding):
        if b"\x00" in data:
            raise _not_text()
        yield data


def first_undecodable(handle: BinaryIO, encoding: Encoding) -> int | None:
    """The offset of the first byte that is not text in this encoding."""
    handle.seek(encoding.bom)
    decoder = codecs.getincrementaldecoder(encoding.name)()
    read = encoding.bom
    while True:
        chunk = handle.read(CHUNK)
        pending = len(decoder.getstate()[0])
        try:
            decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            return read - pending + error.start
        read += len(chunk)
        if not chunk:
            return None


def _raw_chunks(handle: BinaryIO, encoding: Encoding) -> Iterator[bytes]:
    """`detect` has already proven that it is UTF-8, so nothing needs decoding again."""
    handle.seek(encoding.bom)
    while chunk := handle.read(CHUNK):
        yield chunk


def _decoded_chunks(handle: BinaryIO, encoding: Encoding) -> Iterator[bytes]:
    handle.seek(encoding.bom)
    decoder = codecs.getincrementaldecoder(encoding.name)()
    read = encoding.bom
    while True:
        chunk = handle.read(CHUNK)
        pending = len(decoder.getstate()[0])
        try:
            text = decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            raise _undecodable(encoding.name, read - pending + error.start) from error
        read += len(chunk)
        if text:
            yield text.encode("utf-8")
        if not chunk:
            return


def _utf16_without_bom(head: bytes) -> str | None:
    """Text in a European language has a zero in every second byte, and none in the others."""
    pairs = len(head) // 2
    if pairs < 2:
        return None
    even, odd = head[0 : pairs * 2 : 2].count(0), head[1 : pairs * 2 : 2].count(0)
    if odd >= pairs * 0.4 and even == 0:
        return "utf-16-le"
    if even >= pairs * 0.4 and odd == 0:
        return "utf-16-be"
    return None


def _is_mostly_utf8(handle: BinaryIO) -> bool:
    """A damaged or mixed UTF-8 file must not be read as Windows-1252: its accents would come out wrong.

    In Windows-1252, characters that happen to look like UTF-8 hardly occur; one in ten is no coincidence.
    Half a surrogate pair, which some programs write as if it were a character, is UTF-8 gone wrong too.
    """
    handle.seek(0)
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    good = bad = 0
    while chunk := handle.read(CHUNK):
        text = decoder.decode(chunk)
        if not text.isascii():
            if _HALF_PAIR.search(text):
                return True
            escaped = len(_ESCAPED_BYTES.findall(text))
            bad += escaped
            good += len(_NON_ASCII.findall(text)) - escaped
    return 10 * good > bad


def _not_text() -> BadFileError:
    return BadFileError(
        "This is not a text file: it holds NUL characters.", "Save it as CSV text (UTF-8) and send it again."
    )


def _undecodable(name: str, offset: int) -> BadFileError:
    shown = {"cp1252": "Windows-1252", "utf-8": "UTF-8"}.get(name, name.upper())
    return BadFileError(
        f"The byte at offset {offset:,} is not text in {shown}.",
        "Save the file again as UTF-8; if it was cut off on the way, send it again.",
        offset=offset,
    )
