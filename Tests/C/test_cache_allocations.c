/* Finding a picture in memory allocates nothing: this program replaces malloc() and the like and counts their calls. */
#include "caches.h"

#include <stdatomic.h>

/* ------------------------------------------------------------------------- counting malloc and the like */

static atomic_int counts_now;   /* 1 while calls are counted */
static atomic_long allocations; /* here */

/* glibc's own allocator under its internal names: GNU C Library, malloc/malloc.c. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static void count_one(void)
{
    if (atomic_load(&counts_now)) atomic_fetch_add(&allocations, 1);
}

void *malloc(size_t size)
{
    count_one();
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    count_one();
    return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    count_one();
    return __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    count_one();
    return __libc_memalign(alignment, size);
}

void *memalign(size_t alignment, size_t size) { return aligned_alloc(alignment, size); }

int posix_memalign(void **made, size_t alignment, size_t size)
{
    *made = aligned_alloc(alignment, size);
    return *made ? 0 : ENOMEM;
}

/* ---------------------------------------------------------------------------------------------- hits */

enum { THREADS = 4, TURNS = 10000 };

static sdd_cache *cache;
static char keys[8][64];
static pthread_barrier_t together;

/* The first round of hits and misses is not counted: it covers everything that a thread's first call allocates. */
static void *look(void *unused)
{
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < (round ? TURNS : 104); i++) {
            OWNED_IMAGE image = sdd_cache_memory_image(cache, keys[i % 8]);
            CHECK_EQUAL(sdd_image_width(image), i % 8 < 6 ? 19 : 0);
        }
        pthread_barrier_wait(&together); /* main starts to count, or has counted */
        pthread_barrier_wait(&together);
    }
    return unused;
}

CASE(a_hit_in_memory_allocates_nothing)
{
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    pthread_t threads[THREADS];
    config.levels = SDD_CACHE_MEMORY;
    cache = make_cache(&config);
    for (int i = 0; i < 8; i++) {
        snprintf(keys[i], sizeof keys[i], "https://host.example/a/rather/long/path/to/picture-%d.png", i);
        if (i < 6) put(cache, keys[i], fixture_image("png/rgb8.png"), NULL);
    }
    CHECK(pthread_barrier_init(&together, NULL, THREADS + 1) == 0);
    for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, look, NULL) == 0);
    pthread_barrier_wait(&together);
    atomic_store(&counts_now, 1);
    pthread_barrier_wait(&together);
    pthread_barrier_wait(&together);
    atomic_store(&counts_now, 0);
    pthread_barrier_wait(&together);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    CHECK_EQUAL(atomic_load(&allocations), 0);
    CHECK_EQUAL(counts_of(cache).memory_hits, THREADS * (TURNS + 104) / 8 * 6);
    CHECK_STATUS(sdd_cache_destroy(cache), SDD_OK);
}

CASE(the_librarys_allocations_are_counted)
{
    atomic_store(&counts_now, 1);
    OWNED_BYTES bytes = text_bytes("these need memory");
    atomic_store(&counts_now, 0);
    CHECK(atomic_load(&allocations) > 0);
    atomic_store(&allocations, 0);
}

int main(void) { return run_cases(); }
