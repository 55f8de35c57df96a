; The parts of the page report.html as read-only data. src/page/build makes them: the page's template from
; page_bytes to page_end, and Chart.js, compressed by gzip, from charts_bytes to charts_end.
bits 64
default rel

section .rodata

global page_bytes:data hidden
global page_end:data hidden
global charts_bytes:data hidden
global charts_end:data hidden

page_bytes:
	incbin PAGE_TEMPLATE
page_end:

charts_bytes:
	incbin PAGE_CHARTS
charts_end:
