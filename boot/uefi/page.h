/* The parts of the page report.html, linked into the image: see page.nasm. */
#ifndef BARETICK_PAGE_H
#define BARETICK_PAGE_H

#include "plan.h"
#include "render/json/json.h"

extern const struct html_page page_parts;

/* Sizes of the page and of the pager's buffer, and the function that renders the page, for plan_allocate_memory(). */
extern const struct plan_page report_page;

#endif
