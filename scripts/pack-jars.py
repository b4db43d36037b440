#!/usr/bin/env python3
"""Packs the jars for a small program: pack-jars.py FROM TO

Writes each jar again with its files uncompressed, so that xz finds what the jars have in common, and all of them, one after
the other, as jars.xz. Equal jars give equal bytes.
"""

import lzma
import pathlib
import sys
import zipfile

# The order of crates/platforms/build.rs.
JARS = ["klatch.jar", "klatch-netty.jar", "klatch-web.jar"]


def store(source: pathlib.Path, target: pathlib.Path) -> bytes:
    """Copies a jar with all files uncompressed; returns its bytes."""
    with zipfile.ZipFile(source) as compressed, zipfile.ZipFile(target, "w") as stored:
        for entry in compressed.infolist():
            copy = zipfile.ZipInfo(entry.filename, entry.date_time)
            copy.external_attr = entry.external_attr
            stored.writestr(copy, compressed.read(entry))
    return target.read_bytes()


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit("usage: pack-jars.py FROM TO")
    source, target = map(pathlib.Path, sys.argv[1:])
    target.mkdir(parents=True, exist_ok=True)
    contents = b"".join(store(source / name, target / name) for name in JARS)
    (target / "jars.xz").write_bytes(lzma.compress(contents, preset=9 | lzma.PRESET_EXTREME))


main()
