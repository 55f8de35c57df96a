; The parts of the page report.html, which src/page/build makes: the page's template, and Chart.js, compressed by gzip.
; page_parts is the struct html_page of render/json/json.h.
bits 64
default rel

section .rodata

page_bytes:
	incbin PAGE_TEMPLATE
page_end:

charts_bytes:
	incbin PAGE_CHARTS
charts_end:

section .data.rel.ro progbits alloc noexec write align=8

global page_parts:data hidden

page_parts:
	dq page_bytes, page_end - page_bytes
	dq charts_bytes, charts_end - charts_bytes
