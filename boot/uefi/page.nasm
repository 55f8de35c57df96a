;
; The page of report.html from src/page/build, from page_bytes to page_end. It is read-only data. PAGE is its path.
;
bits 64
default rel

section .rodata

global page_bytes:data hidden
global page_end:data hidden

page_bytes:
	incbin PAGE
page_end:
