"""Prints the widths of the shared loads and stores in ptxas's machine code: shared_widths.py FILE.ptx [ARCHITECTURE].

tests/ir/joined_accesses_test.cpp has small kernels with what this said of them (ptxas 13, sm_90). An instruction is 16
bytes; bits 0 to 11 are the opcode, bits 73 to 75 the width.
"""
import struct
import subprocess
import sys
import tempfile

NAMES = {0x984: "LDS", 0x388: "STS", 0x988: "STS"}
WIDTHS = {0: "u8", 1: "s8", 2: "u16", 3: "s16", 4: "32", 5: "64", 6: "128"}


def code_sections(elf):
    start, = struct.unpack_from("<Q", elf, 0x28)
    size, count, names = struct.unpack_from("<HHH", elf, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", elf, start + i * size) for i in range(count)]
    for header in headers:
        at = headers[names][4] + header[0]
        name = elf[at:elf.index(b"\0", at)].decode()
        if name.startswith(".text."):
            yield name[6:], elf[header[4]:header[4] + header[5]]


def main():
    architecture = sys.argv[2] if len(sys.argv) > 2 else "sm_90"
    with tempfile.NamedTemporaryFile(suffix=".cubin") as cubin:
        subprocess.run(["ptxas", "-arch=" + architecture, sys.argv[1], "-o", cubin.name], check=True)
        elf = cubin.read()
    for name, code in code_sections(elf):
        found = []
        for low, high in struct.iter_unpack("<QQ", code):
            if (low & 0xFFF) in NAMES:
                found.append(NAMES[low & 0xFFF] + "." + WIDTHS[high >> 9 & 7])
        print(name, *found)


main()
