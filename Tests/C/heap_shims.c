/*
 * Runs Sources/CHeap/heap.c apart from the library, with the linker's replacement of malloc() as there:
 *
 *     cc -g -fno-builtin Tests/C/heap_shims.c -pthread -o heap_shims \
 *        -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=posix_memalign,--wrap=strdup,--wrap=free
 *
 * Blocks of all sizes are made, filled, passed on to other threads, looked at and freed there; each is as large as was
 * asked for, belongs to one owner at a time, and may be freed by the C library, and the other way round. What the cache
 * keeps is limited, and goes with its thread. A second free of a block ends the process. A child that is forked while
 * other threads make and free blocks can do so itself.
 */
#include "../../Sources/CHeap/heap.c"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plain_check.h"

enum { LARGEST = 70000, THREADS = 4, ROUNDS = 200000, HELD = 300, KEPT_AT_MOST = 8 << 20 };

/* A block that knows its size and owner, and is filled with a byte of its own. */
struct block {
    size_t size;
    uint8_t filling;
};

static unsigned next_number(unsigned *state) { return *state = *state * 1664525 + 1013904223; }

static size_t random_size(unsigned *state)
{
    unsigned kind = next_number(state) >> 28;
    size_t most = kind < 10 ? 300 : kind < 14 ? 3000 : LARGEST;
    return sizeof(struct block) + (next_number(state) >> 8) % most;
}

static void fill(struct block *block, size_t size, uint8_t filling)
{
    memset(block, filling, size);
    block->size = size;
    block->filling = filling;
}

static void look(const struct block *block)
{
    const uint8_t *bytes = (const uint8_t *)block;
    size_t places[] = {sizeof *block, block->size / 2, block->size - 1};
    for (int i = 0; i < 3; i++)
        if (places[i] >= sizeof *block && places[i] < block->size) CHECK(bytes[places[i]] == block->filling);
}

static void check_sizes(void)
{
    for (size_t size = 0; size <= LARGEST; size++) {
        uint8_t *block = malloc(size);
        CHECK(block && malloc_usable_size(block) >= size && (uintptr_t)block % 16 == 0);
        memset(block, 0xaa, size);
        free(block);
        block = calloc(1, size);
        CHECK(block);
        for (size_t i = 0; i < size; i += 1 + size / 7) CHECK(block[i] == 0);
        if (size > 0) CHECK(block[size - 1] == 0);
        /* Made here and freed by the C library, and the other way round. */
        if (size % 2 == 0) __real_free(block); else free(block);
        if (size % 3 == 0) free(__real_malloc(size));
    }
    volatile size_t half = SIZE_MAX / 2; /* more than the compiler lets pass */
    CHECK(!calloc(half, 3));
    CHECK(!malloc(half));
    free(NULL);
}

static void check_growth(void)
{
    char *text = strdup("text");
    for (size_t size = 5; size < 3 * LARGEST; size += 1 + size / 3) {
        text = realloc(text, size);
        CHECK(text && malloc_usable_size(text) >= size && strcmp(text, "text") == 0);
    }
    for (size_t size = 3 * LARGEST; size > 5; size -= 1 + size / 3) {
        text = realloc(text, size);
        CHECK(text && malloc_usable_size(text) >= size && memcmp(text, "text", 4) == 0);
        CHECK(malloc_usable_size(text) <= size + size / 4 + 64);
    }
    free(text);
    text = realloc(NULL, 40);
    CHECK(text);
    free(text);
}

/* Blocks that any thread may take and free. */
static _Atomic(struct block *) shared[HELD];
static atomic_int is_over;

static void *exchange_blocks(void *given)
{
    unsigned state = (unsigned)(uintptr_t)given;
    for (int round = 0; round < ROUNDS && !is_over; round++) {
        size_t size = random_size(&state);
        struct block *made = (state >> 16) % 4 ? malloc(size) : calloc(1, size);
        CHECK(made);
        fill(made, size, (uint8_t)(state >> 20));
        if ((state >> 12) % 8 == 0) {
            size_t other = random_size(&state);
            made = realloc(made, other);
            CHECK(made);
            if (other < made->size) made->size = other;
        }
        struct block *taken = atomic_exchange(&shared[(state >> 8) % HELD], made);
        if (!taken) continue;
        look(taken);
        free(taken);
    }
    return NULL;
}

static void run_threads(void *(*body)(void *), int count, pthread_t *threads)
{
    for (int i = 0; i < count; i++)
        CHECK(pthread_create(&threads[i], NULL, body, (void *)(uintptr_t)(7 * i + 1)) == 0);
}

static void free_shared(void)
{
    for (int i = 0; i < HELD; i++) {
        struct block *block = atomic_exchange(&shared[i], NULL);
        if (block) look(block);
        free(block);
    }
}

static void check_threads(void)
{
    pthread_t threads[THREADS];
    run_threads(exchange_blocks, THREADS, threads);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    free_shared();
}

/* Makes a hundred megabytes in small blocks, and frees them here. */
static void *make_and_free(void *given)
{
    (void)given;
    enum { COUNT = 1000000 };
    void **made = malloc(COUNT * sizeof *made);
    CHECK(made);
    for (int i = 0; i < COUNT; i++) CHECK((made[i] = malloc(20 + i % 160)));
    for (int i = 0; i < COUNT; i++) free(made[i]);
    free(made);
    return NULL;
}

static size_t in_use(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* - before: what was in use at the beginning of the program. */
static void check_limits(size_t before)
{
    CHECK(in_use() <= before + KEPT_AT_MOST);
    make_and_free(NULL);
    CHECK(in_use() <= before + KEPT_AT_MOST);
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        run_threads(make_and_free, 1, &thread);
        pthread_join(thread, NULL);
    }
    CHECK(in_use() <= before + KEPT_AT_MOST);
}

/* Returns how a child ends that runs `body`. */
static int end_of_child(void (*body)(void))
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        body();
        _exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    return status;
}

static void free_twice(void)
{
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    void *volatile block = malloc(100), *volatile other = malloc(100);
    free(block);
    free(other);
    free(block);
}

static void check_forks(void)
{
    pthread_t threads[THREADS];
    run_threads(exchange_blocks, THREADS, threads);
    for (int i = 0; i < 100; i++) {
        int status = end_of_child(check_growth);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    is_over = 1;
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    free_shared();
}

int main(void)
{
    CHECK(is_used);
    size_t before = in_use();
    check_sizes();
    check_growth();
    check_threads();
    check_limits(before);
    int status = end_of_child(free_twice);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    check_forks();
    puts("heap_shims: passed");
    return 0;
}
