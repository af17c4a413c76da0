// A cache of freed blocks before malloc(). A small request makes and frees a hundred blocks, most of them in libcurl, and
// many are freed by another thread than the one that made them. In a program with threads glibc's malloc() takes the
// lock of a heap for each block that its own cache of seven a size does not have, and its calloc() does not look there.
// Here each thread keeps more blocks, and passes them on to other threads by the dozen.
//
// The linker puts the functions `__wrap_…` of this file in the place of those that the library and the Swift runtime
// call: `--wrap` in Package.swift. `CurlTransport` gives them to libcurl. Every block is one of malloc(), with the usable
// size that malloc() says, so that it does not matter who frees it.
//
// The cache stands aside where it would hide something or has no use: under a sanitizer or memcheck, where malloc() is
// not glibc's or lays its blocks out in another way, and with SDD_PLAIN_MALLOC=1 in the environment.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
int __real_posix_memalign(void **block, size_t alignment, size_t size);
void __real_free(void *block);

// ---- sizes

// Blocks of one class serve each other. Class i has blocks of at least size_of(i) bytes: 24, 40, … 1,032, as malloc()
// makes them, and from there eight sizes up to each power of two.
enum { SMALL_CLASSES = 64, STEPS = 8, LARGEST_BITS = 16, CLASSES = SMALL_CLASSES + (LARGEST_BITS - 10) * STEPS };
static const size_t smallest = 24, largest_small = 24 + 16 * (SMALL_CLASSES - 1);
static const size_t largest = ((size_t)1 << LARGEST_BITS) + 8;

static size_t size_of(unsigned kind)
{
    if (kind < SMALL_CLASSES) return smallest + 16 * kind;
    unsigned bits = 10 + (kind - SMALL_CLASSES) / STEPS, step = (kind - SMALL_CLASSES) % STEPS;
    return ((size_t)(STEPS + 1 + step) << (bits - 3)) + 8;
}

/// Returns the class whose blocks have at least `size` bytes, which is not more than `largest`.
static inline unsigned class_for(size_t size)
{
    if (size <= largest_small) return size <= smallest ? 0 : (unsigned)((size - smallest + 15) / 16);
    size_t rest = size - 9;
    unsigned bits = 63 - (unsigned)__builtin_clzll(rest);
    return SMALL_CLASSES + (bits - 10) * STEPS + (unsigned)(rest >> (bits - 3)) - STEPS;
}

/// Returns the usable size of a block of glibc's malloc(): the word before it holds its size, one or two words more if it
/// is mapped for itself, and three marks. malloc_usable_size() says the same, and looks at the block behind too.
static inline size_t usable_size(const void *block)
{
    enum { IS_MAPPED = 2, MARKS = 7 };
    size_t head = ((const size_t *)block)[-1];
    return (head & ~(size_t)MARKS) - sizeof head - (head & IS_MAPPED) * (sizeof head / IS_MAPPED);
}

/// Returns the class that a block with `size` usable bytes can serve, which is between `smallest` and `largest`.
static inline unsigned class_of(size_t size)
{
    if (size <= largest_small) return (unsigned)((size - smallest) / 16);
    unsigned kind = class_for(size);
    return size_of(kind) > size ? kind - 1 : kind;
}

// ---- lists of blocks

// The first two words of a block that is kept. The link is disguised, as in glibc's own cache, and the mark tells a
// block that is freed twice.
struct kept {
    uintptr_t next;
    uintptr_t mark;
};

struct list {
    struct kept *first;
    unsigned room; // for this many more
};

static uintptr_t secret;
// The number of blocks in a full list of each class: four pages, but at least one block, and at most 32. So no thread
// keeps more than 4 MiB, and few keep more than some hundred kilobytes.
static unsigned char full[CLASSES];

static uintptr_t disguised(const void *link, const struct kept *in)
{
    return (uintptr_t)link ^ secret ^ ((uintptr_t)in >> 12);
}

static void put(struct list *list, struct kept *block)
{
    block->next = disguised(list->first, block);
    block->mark = secret;
    list->first = block;
    list->room--;
}

static void *take(struct list *list)
{
    struct kept *block = list->first;
    list->first = (struct kept *)disguised((void *)block->next, block);
    // Other transfers have used so much memory since that the next block is in no near cache of the processor any more.
    __builtin_prefetch(list->first, 1);
    list->room++;
    block->mark = 0;
    return block;
}

static void free_all(struct list *list)
{
    while (list->first) __real_free(take(list));
}

// ---- full lists, which threads pass on to each other

// Nobody waits for this lock: who does not get it goes to malloc().
static atomic_flag is_depot_taken = ATOMIC_FLAG_INIT;
// The first block of a full list of each class. Its mark is the disguised link to that of the next list.
static struct kept *depot[CLASSES];
static atomic_uint depot_lists[CLASSES];
static size_t depot_bytes;
static const size_t most_depot_bytes = 4 << 20, most_bytes_of_class = 1 << 20;

static int takes_depot(void) { return !atomic_flag_test_and_set_explicit(&is_depot_taken, memory_order_acquire); }
static void gives_depot_back(void) { atomic_flag_clear_explicit(&is_depot_taken, memory_order_release); }

static unsigned lists_of(unsigned kind) { return atomic_load_explicit(&depot_lists[kind], memory_order_relaxed); }

static void set_lists_of(unsigned kind, unsigned count)
{
    atomic_store_explicit(&depot_lists[kind], count, memory_order_relaxed);
}

/// Empties a full list.
static void pass_on(unsigned kind, struct list *list)
{
    size_t bytes = full[kind] * size_of(kind);
    if (takes_depot()) {
        if (depot_bytes + bytes <= most_depot_bytes && (lists_of(kind) + 1) * bytes <= most_bytes_of_class) {
            list->first->mark = disguised(depot[kind], list->first);
            depot[kind] = list->first;
            depot_bytes += bytes;
            set_lists_of(kind, lists_of(kind) + 1);
            *list = (struct list){ NULL, full[kind] };
        }
        gives_depot_back();
    }
    free_all(list);
}

/// Fills an empty list. Returns whether there was a full one.
static int fetch(unsigned kind, struct list *list)
{
    // Without the lock this is a guess.
    if (lists_of(kind) == 0 || !takes_depot()) return 0;
    struct kept *first = depot[kind];
    if (first) {
        depot[kind] = (struct kept *)disguised((void *)first->mark, first);
        first->mark = secret;
        depot_bytes -= full[kind] * size_of(kind);
        set_lists_of(kind, lists_of(kind) - 1);
        *list = (struct list){ first, 0 };
    }
    gives_depot_back();
    return first != NULL;
}

/// In a child that was forked while another thread was in the depot, what is there is lost.
static void in_child(void)
{
    if (!takes_depot()) {
        for (unsigned kind = 0; kind < CLASSES; kind++) {
            depot[kind] = NULL;
            set_lists_of(kind, 0);
        }
        depot_bytes = 0;
    }
    gives_depot_back();
}

// ---- the cache of a thread

// For each class a list in use and one to exchange it with, so that a thread that makes and frees by turns does not go
// to the depot each time.
struct cache {
    struct list active[CLASSES], spare[CLASSES];
};

static int is_used;
static pthread_key_t key;
// A thread without a cache has this one, whose lists are empty and have no room. Nothing is ever written to it.
static struct cache none;
// The cache of this thread.
static __thread struct cache *mine __attribute__((tls_model("initial-exec"))) = &none;
// Whether this thread makes itself no cache any more.
static __thread int is_closed __attribute__((tls_model("initial-exec")));

/// Frees the cache of a thread that ends.
static void close_cache(void *of_thread)
{
    struct cache *cache = of_thread;
    mine = &none;
    is_closed = 1;
    for (unsigned kind = 0; kind < CLASSES; kind++) {
        free_all(&cache->active[kind]);
        free_all(&cache->spare[kind]);
    }
    __real_free(cache);
}

// What is rarely needed stands in functions of its own, so that the others need no stack.
#define RARE __attribute__((noinline, cold))

/// Makes this thread a cache, if it is to have one. Returns whether there is one now.
RARE static int open_cache(void)
{
    if (mine != &none) return 1;
    if (!is_used || is_closed) return 0;
    // pthread_setspecific() may call malloc().
    is_closed = 1;
    struct cache *cache = __real_calloc(1, sizeof *cache);
    if (!cache) return 0;
    for (unsigned kind = 0; kind < CLASSES; kind++) cache->active[kind].room = cache->spare[kind].room = full[kind];
    if (pthread_setspecific(key, cache) != 0) {
        __real_free(cache);
        return 0;
    }
    mine = cache;
    return 1;
}

static void exchange(struct cache *cache, unsigned kind)
{
    struct list list = cache->active[kind];
    cache->active[kind] = cache->spare[kind];
    cache->spare[kind] = list;
}

/// Makes a block where the list of its class is empty.
RARE static void *make(unsigned kind)
{
    if (!open_cache()) return __real_malloc(size_of(kind));
    struct list *list = &mine->active[kind];
    if (mine->spare[kind].first) {
        exchange(mine, kind);
    } else if (!fetch(kind, list)) {
        return __real_malloc(size_of(kind));
    }
    return take(list);
}

/// Ends the process if a block is already in a list.
static void check_is_new(const struct list *list, const struct kept *block)
{
    for (const struct kept *kept = list->first; kept; kept = (struct kept *)disguised((void *)kept->next, kept))
        if (kept == block) abort();
}

/// Keeps or frees a block whose list is full, or which looks as if it was freed before.
RARE static void keep(struct kept *block, unsigned kind)
{
    if (!open_cache()) {
        __real_free(block);
        return;
    }
    struct list *list = &mine->active[kind], *spare = &mine->spare[kind];
    if (block->mark == secret) {
        check_is_new(list, block);
        check_is_new(spare, block);
    }
    if (list->room == 0) {
        if (spare->room == 0) pass_on(kind, spare);
        exchange(mine, kind);
    }
    put(list, block);
}

// ---- the functions

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
int __wrap_posix_memalign(void **block, size_t alignment, size_t size);
char *__wrap_strdup(const char *text);
void __wrap_free(void *block);

void *__wrap_malloc(size_t size)
{
    if (size > largest) return __real_malloc(size);
    unsigned kind = class_for(size);
    struct list *list = &mine->active[kind];
    return __builtin_expect(list->first != NULL, 1) ? take(list) : make(kind);
}

void __wrap_free(void *block)
{
    // Most calls of libcurl free nothing.
    if (!block) return;
    size_t size = is_used ? usable_size(block) : 0;
    if (__builtin_expect(size < smallest || size > largest, 0)) {
        __real_free(block);
        return;
    }
    unsigned kind = class_of(size);
    struct list *list = &mine->active[kind];
    if (__builtin_expect(list->room == 0 || ((struct kept *)block)->mark == secret, 0)) {
        keep(block, kind);
        return;
    }
    put(list, block);
}

void *__wrap_calloc(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > largest) return __real_calloc(count, size);
    void *block = __wrap_malloc(bytes);
    return block ? memset(block, 0, bytes) : NULL;
}

void *__wrap_realloc(void *block, size_t size)
{
    if (!block) return __wrap_malloc(size);
    size_t has = is_used ? usable_size(block) : 0;
    if (has == 0 || has > largest || size == 0 || size > largest) return __real_realloc(block, size);
    // A block that is hardly larger than it needs to be stays where it is.
    if (size <= has && size >= has - has / 8 - 16) return block;
    void *moved = __wrap_malloc(size);
    if (!moved) return NULL;
    memcpy(moved, block, size < has ? size : has);
    __wrap_free(block);
    return moved;
}

// Swift's UnsafeMutablePointer.allocate() asks for an alignment of 16, which all blocks have.
int __wrap_posix_memalign(void **block, size_t alignment, size_t size)
{
    if (alignment > 16 || !is_used) return __real_posix_memalign(block, alignment, size);
    void *made = __wrap_malloc(size);
    if (!made) return ENOMEM;
    *block = made;
    return 0;
}

char *__wrap_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = __wrap_malloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

// ---- whether there is a cache

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SDD_HAS_SANITIZER
#endif
#endif

#ifndef SDD_HAS_SANITIZER
/// Whether a function that every part of the process calls is that of the C library.
static int is_of_c_library(const char *name)
{
    Dl_info found, library;
    void *function = dlsym(RTLD_DEFAULT, name);
    return function && dladdr(function, &found) && dladdr((void *)gnu_get_libc_version, &library) &&
           found.dli_fbase == library.dli_fbase;
}

/// Whether each block is to be seen. valgrind's tools are loaded in this way, and replace malloc() without a trace.
static int is_watched(void)
{
    const char *plain = secure_getenv("SDD_PLAIN_MALLOC");
    if (plain && *plain && strcmp(plain, "0") != 0) return 1;
    static const char *const tools[] = { "memcheck", "dhat", "massif", "helgrind", "drd" };
    const char *loaded = secure_getenv("LD_PRELOAD");
    for (size_t i = 0; loaded && i < sizeof tools / sizeof *tools; i++) {
        char name[32] = "vgpreload_";
        if (strstr(loaded, strcat(name, tools[i]))) return 1;
    }
    return 0;
}

/// Whether usable_size() is right.
static int is_laid_out_as_expected(void)
{
    int is = 1;
    for (size_t size = 1; size <= 4 * largest; size = 3 * size + 5) {
        void *block = __real_malloc(size);
        if (block && usable_size(block) != malloc_usable_size(block)) is = 0;
        __real_free(block);
    }
    return is;
}

__attribute__((constructor)) static void begin(void)
{
    if (!is_of_c_library("malloc") || !is_of_c_library("free") || is_watched() || !is_laid_out_as_expected()) return;
    if (getrandom(&secret, sizeof secret, GRND_NONBLOCK) != (ssize_t)sizeof secret) secret = (uintptr_t)&secret >> 4;
    // No block that is in use has this mark but by chance.
    secret |= 1;
    for (unsigned kind = 0; kind < CLASSES; kind++) {
        size_t count = 16384 / size_of(kind);
        full[kind] = (unsigned char)(count < 1 ? 1 : count > 32 ? 32 : count);
    }
    is_used = pthread_atfork(NULL, NULL, in_child) == 0 && pthread_key_create(&key, close_cache) == 0;
}
#endif
