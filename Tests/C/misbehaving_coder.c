/* Source of a shared object for test_isolated: a coder of bodies "EVIL" and one letter, which says what it does. What it
   can answer is one grey pixel: REFUSED if the system refused what it tried, else ALLOWED. */
#define _GNU_SOURCE
#include "misbehaving_coder.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct decoder { char letter; int frames; unsigned char pixel; } decoder;

static int32_t can_decode(const void *bytes, size_t size, void *user_data)
{
    (void)user_data;
    if (size >= 5 && memcmp(bytes, "EVIL", 4) == 0 && ((const char *)bytes)[4] == CRASHES_IN_CAN_DECODE) abort();
    return size >= 5 && memcmp(bytes, "EVIL", 4) == 0;
}

static sdd_status open_decoder(const sdd_coder_task *task, void **out, void *user_data)
{
    (void)task, (void)user_data;
    *out = calloc(1, sizeof(decoder));
    return *out != NULL ? SDD_OK : SDD_ERROR_NO_RESOURCES;
}

static sdd_status feed(void *context, const void *bytes, size_t size, int32_t is_last, void *user_data)
{
    decoder *d = context;
    (void)is_last, (void)user_data;
    if (size >= 5) d->letter = ((const char *)bytes)[4];
    if (d->letter == CRASHES_IN_FEED) abort();
    return SDD_OK;
}

static int opens(const char *path, int flags)
{
    int file = open(path, flags, 0600);
    if (file >= 0) close(file);
    return file >= 0;
}

static int connects(void)
{
    int made = socket(AF_INET, SOCK_STREAM, 0);
    if (made >= 0) close(made);
    return made >= 0;
}

static int forks(void)
{
    pid_t child = fork();
    if (child == 0) _exit(0);
    if (child > 0) waitpid(child, NULL, 0);
    return child > 0;
}

static int runs_a_program(void)
{
    char *const arguments[] = { "true", NULL };
    execv("/bin/true", arguments);
    return 0;
}

static int makes_code(void)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0 ||
           mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
}

/* A helper has a socket, two files in memory, /dev/null, and a pipe that ends with the application. */
static int has_more_descriptors(void)
{
    char byte;
    for (int descriptor = 5; descriptor < 2000; descriptor++)
        if (syscall(SYS_recvfrom, descriptor, &byte, 0, MSG_DONTWAIT, NULL, NULL) >= 0 || ftruncate(descriptor, 0) == 0)
            return 1;
    return 0;
}

static int makes_files_smaller(void) { return ftruncate(1, 0) == 0 || ftruncate(3, 0) == 0; }

/* Memory of a file counts although it is mapped nowhere. */
static int makes_files_larger(void)
{
    signal(SIGXFSZ, SIG_IGN);
    return ftruncate(3, (off_t)3 << 30) == 0 || ftruncate(1, (off_t)3 << 30) == 0;
}

static int writes_the_body(void)
{
    return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, 1, 0) != MAP_FAILED;
}

static void *nothing(void *context) { return context; }

static int has_threads(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, nothing, NULL) != 0) return 0;
    return pthread_join(thread, NULL) == 0;
}

static int takes_memory(void)
{
    size_t size = (size_t)64 << 30;
    return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED;
}

static int overflows_the_stack(int depth)
{
    volatile char frame[4096];
    frame[0] = (char)depth;
    return depth < 0 ? 0 : overflows_the_stack(depth + 1) + frame[0];
}

static int does(char letter)
{
    switch (letter) {
    case CRASHES: return *(volatile int *)8;
    case ABORTS: abort();
    case EXITS: _exit(0);
    case LOOPS: for (volatile int i = 0;; i = !i) {}
    case SLEEPS: for (;;) nanosleep(&(struct timespec){ .tv_sec = 1000 }, NULL);
    case OVERFLOWS: return overflows_the_stack(0);
    case READS_A_FILE: return opens("/etc/passwd", O_RDONLY);
    case WRITES_A_FILE: return opens("/tmp/sdd-misbehaving", O_CREAT | O_WRONLY);
    case CONNECTS: return connects();
    case FORKS: return forks();
    case RUNS_A_PROGRAM: return runs_a_program();
    case KILLS: return kill(getppid(), 0) == 0 || kill(getppid(), SIGTERM) == 0;
    case MAKES_CODE: return makes_code();
    case HAS_DESCRIPTORS: return has_more_descriptors();
    case MAKES_FILES_SMALLER: return makes_files_smaller();
    case TAKES_MEMORY: return takes_memory();
    case HAS_ENVIRONMENT: return getenv("PATH") != NULL || getenv("SDD_TEST_SERVER") != NULL;
    case GAINS_RIGHTS: return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0;
    case HAS_THREADS: return has_threads();
    case MAKES_FILES_LARGER: return makes_files_larger();
    case WRITES_THE_BODY: return writes_the_body();
    case COMPUTES: return 1;
    default: return 1;
    }
}

static sdd_status next(void *context, sdd_coder_frame *frame, void *user_data)
{
    decoder *d = context;
    (void)user_data;
    if (d->frames++ > 0) return SDD_ERROR_NOT_FOUND;
    d->pixel = does(d->letter) ? ALLOWED : REFUSED;
    frame->pixels = &d->pixel;
    frame->stride = 1;
    frame->width = frame->height = 1;
    frame->pixel_format = SDD_PIXEL_FORMAT_GREY8;
    if (d->letter == ANSWERS_NEGATIVE_SIZE) frame->width = -5;
    if (d->letter == ANSWERS_HUGE_SIZE) frame->width = frame->height = 1 << 30;
    if (d->letter == ANSWERS_NO_PIXELS) frame->pixels = NULL;
    return SDD_OK;
}

static void close_decoder(void *context, void *user_data)
{
    (void)user_data;
    free(context);
}

const sdd_coder *sdd_coder_main(void);
const sdd_coder *sdd_coder_main(void)
{
    static sdd_coder coder = SDD_CODER_INIT;
    coder.name = "misbehaving";
    coder.format = SDD_IMAGE_FORMAT_APPLICATION + 66;
    coder.can_decode = can_decode;
    coder.open = open_decoder;
    coder.feed = feed;
    coder.next = next;
    coder.close = close_decoder;
    return &coder;
}
