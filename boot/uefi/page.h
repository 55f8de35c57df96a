/* The parts of the page report.html, linked into the image: see page.nasm. */
#ifndef BARETICK_PAGE_H
#define BARETICK_PAGE_H

#include "plan.h"

extern const char page_bytes[], page_end[], charts_bytes[], charts_end[];

/* The functions and sizes of the page and the pager, for plan_allocate(). */
extern const struct plan_page report_page;

#endif
