/*
 * Numbers of small units in a large one. All are signed and have 64 bits, so that a product has 64 bits, and a quotient
 * of a negative number is negative.
 */
#ifndef BARETICK_UNITS_H
#define BARETICK_UNITS_H

#include <stdint.h>

#define NS_PER_US INT64_C(1000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S  INT64_C(1000000000)
#define US_PER_S  INT64_C(1000000)

#define PS_PER_NS INT64_C(1000)
#define PS_PER_US INT64_C(1000000)
#define PS_PER_S  INT64_C(1000000000000)
#define FS_PER_NS INT64_C(1000000)
#define AS_PER_PS INT64_C(1000000)
#define AS_PER_NS INT64_C(1000000000)
#define AS_PER_S  INT64_C(1000000000000000000)

#define MICROHZ_PER_MILLIHZ INT64_C(1000)
#define MICROHZ_PER_HZ      INT64_C(1000000)
#define MILLIHZ_PER_HZ      INT64_C(1000)
#define HZ_PER_KHZ          INT64_C(1000)
#define HZ_PER_MHZ          INT64_C(1000000)

/* parts in a whole, for ratios in ppm (10^-6), ppb (10^-9) and ppt (10^-12) */
#define PPM INT64_C(1000000)
#define PPB INT64_C(1000000000)
#define PPT INT64_C(1000000000000)
#define PPT_PER_PPB INT64_C(1000)

#endif
