//go:build cgo && linux

package memory

/*
#include <malloc.h>
#include <stdlib.h>

// The store's cache takes its blocks from one arena: what lies idle in one of several is of no use to the others. This
// runs before there is a second thread: glibc looks at the bound when the first of them wants an arena of its own, and
// never again. Other libraries have no arenas.
__attribute__((constructor)) static void bound_arenas(void) {
#if defined(__GLIBC__) && defined(M_ARENA_MAX)
	if (getenv("MALLOC_ARENA_MAX") == NULL) {
		mallopt(M_ARENA_MAX, 1);
	}
#endif
}
*/
import "C"
