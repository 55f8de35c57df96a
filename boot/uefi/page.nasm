; The page report.html, which src/page/build makes, as read-only data from page_bytes to page_end. The macro PAGE is the
; file's path.
bits 64
default rel

section .rodata

global page_bytes:data hidden
global page_end:data hidden

page_bytes:
	incbin PAGE
page_end:
