/* The page of report.html, linked into the image: see page.nasm. */
#ifndef BARETICK_PAGE_H
#define BARETICK_PAGE_H

extern const char page_bytes[], page_end[];

#endif
