"""Properties of the application's file: firmware that enforces W^X can load it, it is small, and it needs no other
file."""
import pathlib
import re
import struct
import subprocess

import pytest

BUILD = pathlib.Path(__file__).parent.parent / "build"
IMAGE = BUILD / "baretick.efi"
LINKED = BUILD / "baretick.so"

EXECUTE, READ, WRITE = 0x20000000, 0x40000000, 0x80000000  # flags of a section in PE/COFF
NX_COMPAT, EFI_APPLICATION, PE32_PLUS, AMD64 = 0x0100, 10, 0x20B, 0x8664
SIZE_MAX = 700 * 1000


class Header:
    """The fields of a PE header that the tests below need."""

    def __init__(self, data):
        start = struct.unpack_from("<I", data, 0x3C)[0]
        assert data[start:start + 4] == b"PE\0\0"
        self.machine, count = struct.unpack_from("<HH", data, start + 4)
        optional_size = struct.unpack_from("<H", data, start + 20)[0]
        optional = start + 24
        self.image_version = struct.unpack_from("<HH", data, optional + 44)
        self.checksum_at = optional + 64
        self.checksum, = struct.unpack_from("<I", data, self.checksum_at)
        self.symbols, self.symbols_count = struct.unpack_from("<II", data, start + 12)
        self.magic = struct.unpack_from("<H", data, optional)[0]
        self.alignment = struct.unpack_from("<I", data, optional + 32)[0]
        self.headers_size = struct.unpack_from("<I", data, optional + 60)[0]
        self.subsystem, self.characteristics = struct.unpack_from("<HH", data, optional + 68)
        self.sections = [struct.unpack_from("<8sIIII12xI", data, optional + optional_size + 40 * i)
                         for i in range(count)]


@pytest.fixture(scope="module")
def header():
    return Header(IMAGE.read_bytes())


def test_is_an_efi_application_for_x86_64(header):
    assert (header.machine, header.magic, header.subsystem) == (AMD64, PE32_PLUS, EFI_APPLICATION)


def test_the_header_has_the_version_and_the_checksum(header):
    """PE/COFF specification: CheckSum is the sum of all words but its own, in ones' complement, plus the file's size. A word that
    is the sum's complement makes the sum of all words FFFFh."""
    data, version = IMAGE.read_bytes(), (BUILD / "commit").read_text().split()[0]
    words = sum(struct.unpack(f"<{len(data) // 2}H", data)) - (header.checksum & 0xFFFF) - (header.checksum >> 16)
    assert len(data) % 2 == 0 and header.checksum - len(data) == (words - 1) % 0xFFFF + 1
    assert header.image_version == tuple(map(int, version.split(".")[:2]))


def test_the_file_has_the_version_and_the_commit_for_bootctl():
    """bootctl(1) searches the file for these marks."""
    version, commit = (BUILD / "commit").read_text().split()
    assert re.findall(rb"#### LoaderInfo: (.*?) ####", IMAGE.read_bytes()) == [f"baretick {version} ({commit})".encode()]


def test_nx_compat_is_set(header):
    assert header.characteristics & NX_COMPAT


def test_no_section_is_both_writable_and_executable(header):
    flags = {section[0].rstrip(b"\0").decode(): section[5] for section in header.sections}
    assert flags[".text"] & EXECUTE and flags[".data"] & WRITE
    assert not [name for name, flag in flags.items() if flag & EXECUTE and flag & WRITE]


def test_every_section_starts_on_a_new_page(header):
    assert header.alignment == 4096
    assert not [section for section in header.sections if section[2] % header.alignment]


def test_no_data_is_outside_of_the_sections(header):
    """The signature covers the whole file only if no data is between or after the sections."""
    places = [(section[4], section[4] + section[3]) for section in header.sections]
    assert places[0][0] == header.headers_size
    assert all(one[1] == other[0] for one, other in zip(places, places[1:]))
    assert places[-1][1] == IMAGE.stat().st_size
    assert (header.symbols, header.symbols_count) == (0, 0)


def test_sbat_names_component_generation_and_version(header):
    """Each line must have six fields that are not empty, and the first line must be about the format itself (shim's
    SBAT.md)."""
    section, = (each for each in header.sections if each[0] == b".sbat\0\0\0")
    text = IMAGE.read_bytes()[section[4]:section[4] + section[1]].decode("ascii")
    rows = [line.split(",") for line in text.splitlines()]
    version = re.search(r"^VERSION := (\S+)$", (BUILD.parent / "Makefile").read_text(), re.M)[1]
    assert text.endswith("\n") and all(len(row) == 6 and all(row) for row in rows)
    assert [row[:2] for row in rows] == [["sbat", "1"], ["baretick", "1"]]
    assert rows[1][3:5] == ["baretick", version]
    assert not section[5] & (WRITE | EXECUTE)


def test_the_image_with_the_page_is_under_700_kilobytes():
    assert IMAGE.stat().st_size < SIZE_MAX


def test_no_symbol_is_undefined():
    assert subprocess.run(["nm", "-u", LINKED], capture_output=True, text=True, check=True).stdout == ""


def functions(pattern):
    """Return {function name: disassembly} for names that match."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", LINKED], capture_output=True, text=True,
                          check=True).stdout
    blocks = re.findall(r"^[0-9a-f]+ <([^>]+)>:\n((?:.+\n)+)", text, re.M)
    return {name: body for name, body in blocks if re.match(pattern, name)}


def test_sampling_loops_call_nothing():
    """The linker must inline the hardware access functions. Otherwise the loop would measure a call together with the
    clock."""
    sources = "".join(path.read_text() for path in (BUILD.parent / "drivers" / "clocks").glob("*.c"))
    # the RTC's read may contain calls, because the RTC is timed at its edges, not by the cost of a read
    names = set(re.findall(r"^DRIVER_SAMPLE\((?!rtc)(\w+),", sources, re.M))
    loops = functions(rf"({'|'.join(names)})_sample")
    assert len(loops) == len(names) >= 9, sorted(loops)
    assert all("rdtsc" in body for body in loops.values())
    assert not {name for name, body in loops.items() if re.search(r"\bcall\b", body)}


def test_no_instruction_needs_sse_or_x87():
    """A core that was just started can use neither SSE nor x87, so the code may use only general registers."""
    text = "".join(functions(r".*").values())
    assert not re.search(r"%[xyz]mm\d|%st\b|%mm\d", text)


VMRUN = b"\x0f\x01\xd8"  # an instruction, see AMD APM vol. 3


@pytest.mark.parametrize("name, own", [("skew", (b"opt/baretick/skew", VMRUN)), ("fault", (b"opt/baretick/fault",))])
def test_no_part_of_a_test_image_is_in_the_application(name, own):
    image = BUILD / f"baretick-{name}.efi"  # the test image of tests/NAME; the bytes OWN are only there
    if not image.exists():
        pytest.skip(f"{image} is not there: type make check")
    assert all(word in image.read_bytes() for word in own), "or this would prove nothing"
    assert not [word for word in own if word in IMAGE.read_bytes()]


def test_the_build_of_the_application_does_not_depend_on_the_test_images():
    """The commands that make prints for a complete build must not use files of the tests."""
    plan = subprocess.run(["make", "--dry-run", "--always-make", "V=1", IMAGE.relative_to(BUILD.parent)],
                          cwd=BUILD.parent, capture_output=True, text=True, check=True).stdout
    assert "boot/cores/cores.c" in plan and "tests/" not in plan and "--wrap" not in plan
