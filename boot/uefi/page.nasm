;
; The page of report.html, as src/page/build made it: page_bytes to page_end, read-only, no code. PAGE is where it is.
;
bits 64
default rel

section .rodata

global page_bytes:data hidden
global page_end:data hidden

page_bytes:
	incbin PAGE
page_end:
