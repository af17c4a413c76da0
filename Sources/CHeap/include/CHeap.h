// Memory for the library and for libcurl: a cache before malloc(), see heap.c.
#ifndef SDD_CHEAP_H
#define SDD_CHEAP_H

#include <stddef.h>

// As malloc(), calloc(), realloc(), free() and strdup(). Their blocks are blocks of malloc(): either side may free what
// the other has made. Callable from any thread.
void *sddheap_malloc(size_t size);
void *sddheap_calloc(size_t count, size_t size);
void *sddheap_realloc(void *block, size_t size);
void sddheap_free(void *block);
char *sddheap_strdup(const char *text);

/// Whether blocks are cached in this process. It never changes after the library has been loaded.
int sddheap_is_used(void);

#endif
