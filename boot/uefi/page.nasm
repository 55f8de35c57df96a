; The parts of the page report.html, which src/page/build makes: its text, packed, and Chart.js, compressed by gzip.
; page_parts is the struct html_page of render/json/json.h.
bits 64
default rel

section .rodata

part_0:
	incbin PAGE_0
part_1:
	incbin PAGE_1
part_2:
	incbin PAGE_2
parts_end:

charts_bytes:
	incbin PAGE_CHARTS
charts_end:

section .data.rel.ro progbits alloc noexec write align=8

global page_parts:data hidden

page_parts:
	dq part_0, part_1 - part_0
	dq part_1, part_2 - part_1
	dq part_2, parts_end - part_2
	dq charts_bytes, charts_end - charts_bytes
