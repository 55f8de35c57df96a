"""Changes records: reads their entries, replaces facts, and writes them with right checksums."""
import struct
import zlib

HEADER, RUN, END, SCALE, FACTS = 16, 1, 13, 2, 19


def read_entries(record):
    """Return the entries of RECORD: (kind, fixed part, items, bytes of an item)."""
    entries, at = [], HEADER
    while at < len(record):
        _, length, _ = struct.unpack_from("<3I", record, at)
        at += 12
        end = at + length
        while at < end:
            kind, fixed, count, each = struct.unpack_from("<4H", record, at)
            at += 8
            items = [record[at + fixed + i * each:at + fixed + (i + 1) * each] for i in range(count)]
            entries.append((kind, record[at:at + fixed], items, each))
            at += fixed + count * each
    return entries


def write_record(entries):
    """Return a record with ENTRIES, the right checksums, and the entry `end`."""
    body = [entry for entry in entries if entry[0] != END]
    body.append((END, struct.pack("<QQ", len(body), 0), [], 0))
    blocks, block = [], b""
    for kind, fixed, items, each in body:
        raw = struct.pack("<4H", kind, len(fixed), len(items), each) + fixed + b"".join(items)
        if block and len(block) + len(raw) > 4096:
            blocks.append(block)
            block = b""
        block += raw
    blocks.append(block)
    head = b"\x89BTREC\r\n" + struct.pack("<I", 1)
    out = [head, struct.pack("<I", zlib.crc32(head))]
    for i, block in enumerate(blocks):
        out += struct.pack("<3I", i, len(block), zlib.crc32(struct.pack("<I", i) + block)), block
    return b"".join(out)


def read_fields(element):
    """Return the fields of ELEMENT: (number, value)."""
    fields, at = [], 0
    while at < len(element):
        length = struct.unpack_from("<H", element, at + 1)[0]
        fields.append((element[at], element[at + 3:at + 3 + length]))
        at += 3 + length
    return fields


def set_field(element, path, value):
    """Return ELEMENT with another VALUE of its field PATH, a list of field numbers of analysis/facts.def. None removes the field."""
    fields, wanted = read_fields(element), path[0]
    at = next((i for i, (n, _) in enumerate(fields) if n == wanted), None)
    if at is None:
        at = sum(n < wanted for n, _ in fields)
        fields.insert(at, (wanted, b""))
    new = set_field(fields[at][1], path[1:], value) if len(path) > 1 else value
    fields[at:at + 1] = [] if new is None else [(wanted, new)]
    return b"".join(struct.pack("<BH", n, len(v)) + v for n, v in fields)


def change_fact(entries, wanted, index, path, value):
    """Return ENTRIES with another VALUE of one field. WANTED is the number of a list in analysis/facts.h, and INDEX the element."""
    out = list(entries)
    for i, (kind, fixed, items, _) in enumerate(out):
        if kind != FACTS:
            continue
        number, length, first = struct.unpack_from("<HHI", fixed)
        data, elements, at = b"".join(items)[:length], [], 0
        while at < len(data):
            size = struct.unpack_from("<H", data, at)[0]
            elements.append(data[at + 2:at + 2 + size])
            at += 2 + size
        if number == wanted and first <= index < first + len(elements):
            elements[index - first] = set_field(elements[index - first], path, value)
            data = b"".join(struct.pack("<H", len(e)) + e for e in elements)
            padded = data + b"\0" * (-len(data) % 8)
            out[i] = (FACTS, struct.pack("<HHI", number, len(data), first), [padded[k:k + 8] for k in range(0, len(padded), 8)], 8)
            return out
    raise ValueError(f"list {wanted} has no element {index}")


def change_fixed_part(entries, wanted, offset, data):
    """Return ENTRIES with DATA at OFFSET in the fixed part of the last entry of the kind WANTED."""
    out, at = list(entries), [i for i, entry in enumerate(entries) if entry[0] == wanted][-1]
    kind, fixed, items, each = out[at]
    out[at] = (kind, fixed[:offset] + data + fixed[offset + len(data):], items, each)
    return out


def pack_number(value):
    """Return VALUE as the value of a field."""
    return value.to_bytes(8, "little").rstrip(b"\0")
