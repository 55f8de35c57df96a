/* Maps a verdict to an exit result. See result.h. */
#include "result.h"

enum exit_result
get_exit_result(enum verdict verdict)
{
	switch (verdict) {
	case VERDICT_PASS:
	case VERDICT_WARN:
		return EXIT_PASS;
	case VERDICT_FAIL:
		return EXIT_FAIL;
	default:
		return EXIT_INCOMPLETE;
	}
}
