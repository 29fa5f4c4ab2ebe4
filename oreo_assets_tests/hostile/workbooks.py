"""Workbooks as no spreadsheet program writes them: each function gives the bytes of one."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib

_NAMES = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
TYPES = (
    '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="xml" ContentType="application/xml"/></Types>'
)
WORKBOOK = (
    f'<?xml version="1.0"?><workbook {_NAMES} xmlns:r="{_LINKS}"><sheets>'
    '<sheet name="One" sheetId="1" r:id="rId1"/></sheets></workbook>'
)
ROOT = (
    '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    f'<Relationship Id="rId1" Type="{_LINKS}/officeDocument" Target="xl/workbook.xml"/></Relationships>'
)
RELATIONS = (
    '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    f'<Relationship Id="rId1" Type="{_LINKS}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>'
)


def sheet(*rows: list[str], before: str = "", inside: str = "") -> str:
    """A sheet with these texts as its cells."""
    body = "".join(
        f'<row r="{n}">'
        + "".join(f'<c r="{"ABCDEF"[i]}{n}" t="inlineStr"><is><t>{cell}</t></is></c>' for i, cell in enumerate(row))
        + "</row>"
        for n, row in enumerate(rows, 1)
    )
    return f'<?xml version="1.0"?>{before}<worksheet {_NAMES}><sheetData>{body}{inside}</sheetData></worksheet>'


def workbook(sheet_xml: str | bytes, **parts: str) -> bytes:
    """An .xlsx with one sheet; `parts` replace or add others by their path, `/` written as `__`."""
    files: dict[str, str | bytes] = {
        "[Content_Types].xml": TYPES,
        "_rels/.rels": ROOT,
        "xl/workbook.xml": WORKBOOK,
        "xl/_rels/workbook.xml.rels": RELATIONS,
        "xl/worksheets/sheet1.xml": sheet_xml,
    }
    files |= {f"{name.replace('__', '/')}.xml": text for name, text in parts.items()}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def laughs(levels: int = 12) -> str:
    """A document type whose last entity stands for 10^levels laughs."""
    entities = ['<!ENTITY l0 "ha">'] + [f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, levels + 1)]
    return f"<!DOCTYPE worksheet [{''.join(entities)}]>"


def outside(path: str) -> str:
    """A document type with an entity that is a file of this machine."""
    return f'<!DOCTYPE worksheet [<!ENTITY x SYSTEM "file://{path}">]>'


def lying(whole: bytes, part: str, says: int) -> bytes:
    """The same archive, in which the size of one part is a lie, in its own header and in the directory."""
    data = bytearray(whole)
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        found = archive.getinfo(part)
        start = archive.start_dir
    struct.pack_into("<I", data, found.header_offset + 22, says)
    at = start
    while data[at : at + 4] == b"PK\x01\x02":
        name, extra, comment = struct.unpack_from("<HHH", data, at + 28)
        if data[at + 46 : at + 46 + name] == part.encode():
            struct.pack_into("<I", data, at + 24, says)
        at += 46 + name + extra + comment
    return bytes(data)


def overlapping(parts: int = 200) -> bytes:
    """One compressed megabyte that many entries of the directory share, as in the well-known bomb."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    plain = b" " * (1 << 20)
    packed = packer.compress(plain) + packer.flush()
    head = struct.pack("<IHHHHHIIIHH", 0x04034B50, 20, 0, 8, 0, 0, zlib.crc32(plain), len(packed), len(plain), 15, 0)
    body = head + b"xl/workbook.xml" + packed
    directory = b""
    for n in range(parts):
        name = b"xl/workbook.xml" if n == 0 else b"xl/part%04d.xml.." % n
        directory += struct.pack(
            "<IHHHHHHIIIHHHHHII",
            0x02014B50, 20, 20, 0, 8, 0, 0, zlib.crc32(plain), len(packed), len(plain), len(name), 0, 0, 0, 0, 0, 0,
        ) + name  # fmt: skip
    end = struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, parts, parts, len(directory), len(body), 0)
    return body + directory + end
