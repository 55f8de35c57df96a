/* Numbers of the compressed format that deflate.c writes and inflate.c reads. Section numbers are from RFC 1951. */
#ifndef BARETICK_DEFLATE_CODES_H
#define BARETICK_DEFLATE_CODES_H

#define FINAL_FIXED      3u /* block header: last block, fixed Huffman codes (3.2.3) */
#define FINAL_FIXED_BITS 3u
#define END_OF_BLOCK     256u
#define LENGTH_CODES     257u
#define LENGTH_MAX_CODE  285u
#define DISTANCE_BITS    5u
#define MATCH_MIN        3u /* minimum and maximum length of a repetition in bytes (3.2.5) */
#define MATCH_MAX        258u

#endif
