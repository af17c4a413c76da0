/*
 * Tests one fault at every place: a run without faults records how often everything.h makes each kind of call, and from
 * where; then it runs once for each call, which fails. Every run must end by itself, with right results or with errors
 * that explain the fault, and must then repeat everything without an error.
 *
 * The simulation (Tests/Simulation) fails calls of files and threads, too, but by chance, and neither allocations nor
 * sockets.
 *
 * Allocations of Swift itself are a kind of their own: their failure ends the process, which is counted and shown.
 *
 * In the short form each place fails once, at a call that the seed selects; SDD_TEST_PLACES is the number of places.
 */
#include "everything.h"

#include <poll.h>

enum { MOST_KINDS = 40, MOST_PLACES = 2048, MOST_JOBS = 8 };

/* Exit statuses of a run. */
enum { WELL = 0, NOT_REACHED = 10 };

/* ------------------------------------------------------------------------------------------- worker */

static int use_all(const char *folder)
{
    char said[700];
    current_case = "everything";
    snprintf(said, sizeof said, "%s/stderr", setting("SDD_TEST_OWN_FOLDER"));
    int file = open(said, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    CHECK(file >= 0 && dup2(file, 2) == 2 && close(file) == 0);
    has_failed = (int (*)(void))calls_function("calls_failed");
    void (*disarm)(void) = calls_function("calls_disarm"), (*report)(void) = calls_function("calls_report");
    CHECK(has_failed != NULL && disarm != NULL && report != NULL);
    const char *fault = getenv("CALLS_FAIL");
    int error = 0;
    if (fault) sscanf(fault, "%*s %*d %d", &error);
    fails_softly = error == EINTR || error < 0;
    make_samples();
    arm_calls();
    use_everything(folder);
    disarm();
    report();
    int was_reached = has_failed();
    if (!was_reached) return fault ? NOT_REACHED : WELL;
    current_case = "everything, afterwards";
    fails_softly = 1; /* from here on no error is explained */
    use_everything(folder);
    return WELL;
}

/* ---------------------------------------------------------------------------------------- the faults */

typedef struct kind {
    const char *name;
    int errors[6]; /* the first one in the short form; -1: a short count; 0 ends the list */
} kind;

static const kind all_kinds[] = {
    { "open", { EMFILE, EACCES, ENOSPC, EIO } },
    { "mkdir", { ENOSPC, EACCES, EIO } },
    { "write", { ENOSPC, -1, EINTR, EIO } },
    { "rename", { EIO, ENOSPC, EACCES } },
    { "unlink", { EACCES, EIO } },
    { "sync", { EIO, ENOSPC } },
    { "flock", { ENOLCK, EINTR } },
    { "cut", { EIO, ENOSPC } },
    { "read", { EIO, -1, EINTR } },
    { "seek", { EIO } },
    { "stat", { EIO, EACCES } },
    { "times", { EACCES } },
    { "list", { EIO, EMFILE } },
    { "fcntl", { EMFILE } },
    { "socket", { EMFILE, ENOBUFS } },
    { "connect", { ECONNREFUSED, EACCES, ENETUNREACH } },
    { "send", { ECONNRESET, -1, EINTR } },
    { "recv", { ECONNRESET, -1, EINTR } },
    { "sockopt", { ENOBUFS } },
    { "thread", { EAGAIN } },
    { "poll", { ENOMEM, EINTR } },
    { "eventfd", { EMFILE } },
    { "mmap", { ENOMEM } },
    { "malloc", { ENOMEM } },
    { "clock", { EINVAL } },
    { "bell", { EINTR } },
    { "hear", { EINTR } },
    { "swift", { ENOMEM } },
};
enum { KINDS = sizeof all_kinds / sizeof *all_kinds };

/* A fault: the `number`-th call of a kind fails. */
typedef struct fault {
    const kind *kind;
    int number, error;
} fault;

static struct { const kind *kind; int first, count; } found_places[MOST_PLACES];
static int found_count, calls_of[KINDS];

static const kind *kind_named(const char *name)
{
    for (int i = 0; i < KINDS; i++)
        if (strcmp(all_kinds[i].name, name) == 0) return &all_kinds[i];
    return NULL;
}

/* ------------------------------------------------------------------------------------------- running */

typedef struct job {
    worker w;
    fault fault;
    char folder[600], report[700], variables[4][800];
} job;

static int runs, not_reached, swift_runs, swift_ends, failures, runs_of[KINDS];

static void begin(job *j, fault f)
{
    j->fault = f;
    snprintf(j->folder, sizeof j->folder, "%s", new_folder());
    snprintf(j->report, sizeof j->report, "%s/report", j->folder);
    char deep[700];
    snprintf(deep, sizeof deep, "%s/cache", j->folder);
    snprintf(j->variables[0], 800, "CALLS_REPORT=%s", j->report);
    snprintf(j->variables[1], 800, "SDD_TEST_OWN_FOLDER=%s", j->folder);
    snprintf(j->variables[2], 800, "SDD_TEST_SECONDS=%d", amount(120, 300));
    snprintf(j->variables[3], 800, "CALLS_FAIL=%s %d %d", f.kind ? f.kind->name : "", f.number, f.error);
    j->w = START(VARIABLES(j->variables[0], j->variables[1], j->variables[2], "SWIFT_BACKTRACE=enable=no",
                           f.kind ? j->variables[3] : NULL),
                 "use", deep);
}

/* Returns the place of the failed call, as the report names it. */
static const char *place_of(const job *j)
{
    static char line[600];
    FILE *file = fopen(j->report, "r");
    *line = 0;
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "failed", 6) == 0) break;
    if (file) fclose(file);
    line[strcspn(line, "\n")] = 0;
    return strncmp(line, "failed", 6) == 0 ? line : "not reached";
}

/* Prints the beginning of a run's output. */
static void show_what_it_said(const job *j)
{
    char path[700], line[400];
    snprintf(path, sizeof path, "%s/stderr", j->folder);
    FILE *file = fopen(path, "r");
    for (int i = 0; file && i < 4 && fgets(line, sizeof line, file); i++) fputs(line, stdout);
    if (file) fclose(file);
}

/* Checks a run that has ended with this status. */
static void judge(job *j, int ended)
{
    int is_swift = j->fault.kind && strcmp(j->fault.kind->name, "swift") == 0;
    runs++;
    if (j->fault.kind) runs_of[j->fault.kind - all_kinds]++;
    swift_runs += is_swift;
    if (WIFEXITED(ended) && WEXITSTATUS(ended) == NOT_REACHED) {
        not_reached++;
    } else if (ended != 0 && is_swift && WIFSIGNALED(ended)) {
        swift_ends++;
    } else if (ended != 0) {
        failures++;
        printf("FAILED %s: status %d, signal %d\n", place_of(j), WIFEXITED(ended) ? WEXITSTATUS(ended) : 0,
               WIFSIGNALED(ended) ? WTERMSIG(ended) : 0);
        show_what_it_said(j);
        fflush(stdout);
    }
    remove_folder(j->folder);
    j->w.pid = 0;
}

static int finish(job *j)
{
    int ended = end_of(&j->w);
    judge(j, ended);
    return ended;
}

/* -------------------------------------------------------------------------------- the calls of a run */

static void read_places(const char *path)
{
    char line[600], name[32];
    int first, count;
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "all %31s %d", name, &count) == 2 && kind_named(name))
            calls_of[kind_named(name) - all_kinds] = count;
        if (sscanf(line, "place %31s %d %d", name, &first, &count) != 3 || !kind_named(name)) continue;
        CHECK(found_count < MOST_PLACES);
        found_places[found_count].kind = kind_named(name);
        found_places[found_count].first = first;
        found_places[found_count++].count = count;
    }
    fclose(file);
}

static void look_what_there_is(void)
{
    job j;
    begin(&j, (fault){ NULL, 0, 0 });
    int status;
    CHECK(waitpid(j.w.pid, &status, 0) == j.w.pid);
    if (status != 0) show_what_it_said(&j);
    if (status != 0) FAIL("the run without a fault: status %d, signal %d", WEXITSTATUS(status), WTERMSIG(status));
    close(j.w.orders);
    fclose(j.w.said);
    read_places(j.report);
    if (getenv("SDD_TEST_SHOW_PLACES")) {
        char line[600];
        FILE *file = fopen(j.report, "r");
        while (file && fgets(line, sizeof line, file)) fputs(line, stdout);
        if (file) fclose(file);
    }
    remove_folder(j.folder);
    for (int i = 0; i < KINDS; i++) printf("%s %d%s", all_kinds[i].name, calls_of[i], i + 1 < KINDS ? ", " : " calls");
    printf(" from %d places\n", found_count);
    fflush(stdout);
}

/* ------------------------------------------------------------------------------------------ all runs */

static fault *faults;
static int fault_count, fault_capacity;

static void add_fault(const kind *k, int number, int error)
{
    if (fault_count == fault_capacity) {
        fault_capacity = fault_capacity ? fault_capacity * 2 : 1024;
        faults = realloc(faults, (size_t)fault_capacity * sizeof *faults);
        CHECK(faults != NULL);
    }
    faults[fault_count++] = (fault){ k, number, error };
}

/* Chooses every call with every error or, with SDD_TEST_EVERY=N, each N-th of them. */
static void choose_all(void)
{
    const char *only = getenv("SDD_TEST_KIND"), *every = getenv("SDD_TEST_EVERY");
    int step = every ? atoi(every) : 1, turn = 0;
    for (int i = 0; i < KINDS; i++) {
        if (only && strcmp(only, all_kinds[i].name) != 0) continue;
        for (int j = 0; all_kinds[i].errors[j]; j++)
            for (int number = 1; number <= calls_of[i]; number++)
                if (turn++ % step == 0) add_fault(&all_kinds[i], number, all_kinds[i].errors[j]);
    }
}

/* Chooses one call with one error for each place, and of these as many as wanted. */
static void choose_some(int wanted)
{
    for (int i = 0; i < found_count; i++) {
        const kind *k = found_places[i].kind;
        int errors = 0;
        while (k->errors[errors]) errors++;
        int error = k->errors[next_random((uint32_t)errors)];
        add_fault(k, found_places[i].first + (int)next_random((uint32_t)found_places[i].count), error);
    }
    for (; fault_count > wanted; fault_count--) faults[next_random((uint32_t)fault_count)] = faults[fault_count - 1];
}

static void run_all(void)
{
    job jobs[MOST_JOBS];
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    int width = processors > MOST_JOBS ? MOST_JOBS : (int)processors, next = 0, running = 0;
    memset(jobs, 0, sizeof jobs);
    while (next < fault_count || running > 0) {
        for (int i = 0; i < width && next < fault_count; i++)
            if (jobs[i].w.pid == 0) begin(&jobs[i], faults[next++]), running++;
        siginfo_t one;
        memset(&one, 0, sizeof one);
        CHECK(waitid(P_ALL, 0, &one, WEXITED | WNOWAIT) == 0);
        for (int i = 0; i < width; i++)
            if (jobs[i].w.pid == one.si_pid) finish(&jobs[i]), running--;
    }
}

CASE(one_fault_at_every_place)
{
    const char *wanted = getenv("SDD_TEST_PLACES"), *given = getenv("SDD_TEST_SEED");
    random_state = given ? (uint32_t)strtoul(given, NULL, 10) | 1 : (uint32_t)time(NULL) * 2654435761u | 1;
    printf("seed %u\n", random_state);
    look_what_there_is();
    if (amount(0, 1)) choose_all();
    else choose_some(wanted ? atoi(wanted) : 40);
    run_all();
    for (int i = 0; i < KINDS; i++)
        if (runs_of[i]) printf("%s %d, ", all_kinds[i].name, runs_of[i]);
    printf("all %d faults, %d of them not reached; Swift's own memory: %d faults, %d ended the process\n", runs, not_reached,
           swift_runs, swift_ends);
    CHECK_EQUAL(failures, 0);
    CHECK(runs == 0 || runs - not_reached > runs / 2);
}

int main(int count, char **words)
{
    start_watchdog();
    if (count == 3 && strcmp(words[1], "use") == 0) return use_all(words[2]);
    return run_cases();
}
