/* Pictures that are decoded by processes of their own: what those may do, how they end, and what their answers are worth.
   run.sh also runs other programs with such pictures; everything must be as in this process. */
#include "isolated.h"
#include "misbehaving_coder.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

/* Loads a body of the misbehaving coder. */
static void fetch_evil(sdd_downloader *downloader, record *r, enum letter letter)
{
    char url[64];
    snprintf(url, sizeof url, "data:,EVIL%%%02x", (unsigned)letter);
    fetch(downloader, r, url, 0);
}

/* ------------------------------------------------------------------------------------------- lives */

static void one_helper_decodes_many_pictures(void)
{
    sdd_downloader *downloader = isolated_downloader(1);
    pid_t first[MOST_HELPERS], later[MOST_HELPERS];
    CHECK_EQUAL(helper_count(), 0);
    fetch_good(downloader);
    CHECK_EQUAL(helpers(first), 1);
    for (int i = 0; i < scaled(200); i++) fetch_good(downloader);
    CHECK_EQUAL(helpers(later), 1);
    CHECK_EQUAL(first[0], later[0]);
    destroy(downloader);
    CHECK_EQUAL(helper_count(), 0);
    CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}

/* A helper that something has ended while it had nothing to do is replaced, and no request fails. */
static void an_idle_helper_is_killed(void)
{
    sdd_downloader *downloader = isolated_downloader(1);
    pid_t found[MOST_HELPERS];
    for (int turn = 0; turn < 5; turn++) {
        siginfo_t end;
        fetch_good(downloader);
        CHECK_EQUAL(helpers(found), 1);
        CHECK(kill(found[0], SIGKILL) == 0);
        CHECK(waitid(P_PID, (id_t)found[0], &end, WEXITED | WNOWAIT) == 0);
    }
    fetch_good(downloader);
    destroy(downloader);
    CHECK_EQUAL(helper_count(), 0);
}

/* An animation may be asked for frames after its downloader has ended. */
static void an_image_outlives_its_downloader(void)
{
    OWNED_RECORD r = RECORD_INIT;
    sdd_downloader *downloader = isolated_downloader(1);
    fetch(downloader, &r, at("/file/frames/pillow.png"), 0);
    CHECK_ENDED(&r, SDD_OK, 0);
    destroy(downloader);
    CHECK_EQUAL(helper_count(), 0);
    for (int index = 0; index < image_info(r.image).frame_count; index++) {
        sdd_image *frame = NULL;
        CHECK_STATUS(sdd_image_frame(r.image, index, &frame), SDD_OK);
        sdd_image_release(frame);
        CHECK_EQUAL(helper_count(), 0);
    }
}

/* The application waits for all children, or ignores their ends. */
static void others_wait_for_helpers(void)
{
    sdd_downloader *downloader = isolated_downloader(1);
    pid_t found[MOST_HELPERS];
    fetch_good(downloader);
    CHECK_EQUAL(helpers(found), 1);
    CHECK(kill(found[0], SIGKILL) == 0);
    CHECK(waitpid(-1, NULL, 0) == found[0]);
    fetch_good(downloader);
    CHECK(signal(SIGCHLD, SIG_IGN) != SIG_ERR);
    CHECK_EQUAL(helpers(found), 1);
    CHECK(kill(found[0], SIGKILL) == 0);
    CHECK(settles(helper_count, 0));
    fetch_good(downloader);
    destroy(downloader);
    CHECK(settles(helper_count, 0));
    CHECK(signal(SIGCHLD, SIG_DFL) != SIG_ERR);
}

/* ------------------------------------------------------------------------------------- a bad coder */

static sdd_downloader *evil_downloader(void)
{
    config_groups groups;
    sdd_downloader_config config = isolated(&groups);
    groups.limits.decode_time_ms = 100;
    groups.limits.decode_time_ms_per_mib = SDD_NO_LIMIT;
    config.decode_threads = 1;
    return make_downloader(&config);
}

static void a_coder_that_ends_its_process(void)
{
    static const enum letter ends[] = { CRASHES, ABORTS, EXITS, OVERFLOWS, CRASHES_IN_FEED };
    OWNED_RECORD r = RECORD_INIT;
    sdd_downloader *downloader = evil_downloader();
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        fetch_evil(downloader, &r, ends[i]);
        CHECK_ENDED(&r, SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_DECODER);
        /* A sanitizer turns a signal into an exit. */
        if (!strstr(r.message, "it was ended by signal ") && !strstr(r.message, "it ended before it had answered"))
            FAIL("%c: %s", ends[i], r.message);
        fetch_good(downloader);
        fetch_evil(downloader, &r, COMPUTES);
        CHECK_ENDED(&r, SDD_OK, 0);
    }
    /* A coder that cannot tell whether a body is its own is asked to decode it. */
    fetch_evil(downloader, &r, CRASHES_IN_CAN_DECODE);
    CHECK_ENDED(&r, SDD_OK, 0);
    destroy(downloader);
    CHECK_EQUAL(helper_count(), 0);
}

static void a_coder_that_never_answers(void)
{
    static const enum letter letters[] = { LOOPS, SLEEPS };
    OWNED_RECORD r = RECORD_INIT;
    sdd_downloader *downloader = evil_downloader();
    for (int i = 0; i < 2; i++) {
        fetch_evil(downloader, &r, letters[i]);
        CHECK_ENDED(&r, SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_TOO_SLOW);
        CHECK(strstr(r.message, "killed") != NULL);
        fetch_good(downloader);
    }
    destroy(downloader);
    CHECK_EQUAL(helper_count(), 0);
}

static void what_a_coder_may_do(void)
{
    OWNED_RECORD r = RECORD_INIT;
    OWNED_DOWNLOADER downloader = evil_downloader();
    for (int letter = READS_A_FILE; letter <= COMPUTES; letter++) {
        fetch_evil(downloader, &r, letter);
        CHECK_ENDED(&r, SDD_OK, 0);
        int pixel = sdd_image_pixels(r.image)[0];
        if (pixel != (letter == COMPUTES ? ALLOWED : REFUSED)) FAIL("%c: pixel %d", letter, pixel);
    }
}

static void frames_of_a_coder_are_checked(void)
{
    OWNED_RECORD r = RECORD_INIT;
    OWNED_DOWNLOADER downloader = evil_downloader();
    fetch_evil(downloader, &r, ANSWERS_NEGATIVE_SIZE);
    CHECK_ENDED(&r, SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_CODER);
    fetch_evil(downloader, &r, ANSWERS_HUGE_SIZE);
    CHECK(r.error == SDD_ERROR_BAD_IMAGE_DATA && r.detail != 0);
    fetch_evil(downloader, &r, ANSWERS_NO_PIXELS);
    CHECK_ENDED(&r, SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_CODER);
}

/* ------------------------------------------------------------------------------------ a bad program */

static void set_program(const char *path) { CHECK(setenv("SDD_DECODER", path, 1) == 0); }

/* Makes a name for the false decoder that says what it does. */
static void set_false_program(const char *word)
{
    char target[1024], link[1100];
    snprintf(target, sizeof target, "%s/false_decoder", setting("SDD_TEST_OBJECTS"));
    snprintf(link, sizeof link, "%s_%s", target, word);
    CHECK(symlink(target, link) == 0 || errno == EEXIST);
    set_program(link);
}

static void a_program_that_lies(void)
{
    static const char *const words[] = {
        "leaves", "aborts", "dies", "short", "empty", "huge", "wide", "negative", "low", "other", "large", "zero", "beyond", "far",
        "stride", "narrow", "format", "nowhere", "rows", "minus", "answer", "unasked", "nothing", "reason",
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        OWNED_RECORD r = RECORD_INIT;
        set_false_program(words[i]);
        sdd_downloader *downloader = isolated_downloader(1);
        for (int turn = 0; turn < 2; turn++) {
            fetch(downloader, &r, at("/file/png/rgb8.png"), 0);
            if (r.error != SDD_ERROR_BAD_IMAGE_DATA || r.detail == 0)
                FAIL("%s: %d %d %s", words[i], r.error, r.detail, r.message);
        }
        destroy(downloader);
        CHECK_EQUAL(helper_count(), 0);
    }
}

/* A program that says that it cannot decode, or nothing at all, says nothing about the picture. */
static void a_program_that_does_not_begin(void)
{
    static const char *const words[] = { "exits", "old", "noise", "flawed", "text" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        OWNED_RECORD r = RECORD_INIT;
        set_false_program(words[i]);
        sdd_downloader *downloader = isolated_downloader(1);
        for (int turn = 0; turn < 2; turn++) {
            fetch(downloader, &r, at("/file/png/rgb8.png"), 0);
            CHECK_ENDED(&r, SDD_ERROR_NO_RESOURCES, SDD_DETAIL_RESOURCES_DECODER);
            CHECK(r.retryable == 1 && strchr(r.message, '\033') == NULL);
        }
        destroy(downloader);
        CHECK_EQUAL(helper_count(), 0);
    }
}

/* Some lies cannot be found out. They may change the pixels, and nothing else. */
static void a_program_with_other_pixels(void)
{
    static const char *const words[] = { "good", "time", "twice", "fills" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        OWNED_RECORD r = RECORD_INIT;
        set_false_program(words[i]);
        OWNED_DOWNLOADER downloader = isolated_downloader(1);
        for (int turn = 0; turn < 3; turn++) {
            fetch(downloader, &r, at("/file/png/rgb8.png"), 0);
            CHECK_ENDED(&r, SDD_OK, 0);
            CHECK(sdd_image_width(r.image) == 19 && sdd_image_height(r.image) == 13);
        }
    }
}

/* Only the program unpacks a profile: there is none if it gives none. One that it does not have is an error. */
static void a_program_with_another_profile(void)
{
    static const char *const words[] = { "square", "profile" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        OWNED_RECORD r = RECORD_INIT;
        sdd_image_colour colour = SDD_IMAGE_COLOUR_INIT;
        set_false_program(words[i]);
        OWNED_DOWNLOADER downloader = isolated_downloader(1);
        fetch(downloader, &r, at("/file/colour/adobe-rgb-png.png"), 0);
        CHECK_EQUAL(r.error, i == 0 ? SDD_OK : SDD_ERROR_BAD_IMAGE_DATA);
        if (i > 0) continue;
        CHECK_EQUAL(sdd_image_get_colour(r.image, &colour), SDD_OK);
        CHECK_EQUAL(colour.icc_profile_size, 0);
    }
}

/* A program that does nothing, little or much is killed in the time that config.h says: for 50 ms less than ten seconds
   on this clock. It may do so on a machine that has much else to do, but not for minutes. */
static void a_program_that_hangs(void)
{
    static const char *const words[] = { "hangs", "naps", "loops" };
    sdd_downloader *downloaders[3];
    record records[3] = { RECORD_INIT, RECORD_INIT, RECORD_INIT };
    int64_t begin = milliseconds_now();
    for (int i = 0; i < 3; i++) {
        config_groups groups;
        sdd_downloader_config config = isolated(&groups);
        groups.limits.decode_time_ms = 50;
        set_false_program(words[i]);
        downloaders[i] = make_downloader(&config);
        record_submit(downloaders[i], &records[i], at("/file/png/rgb8.png"), 0);
    }
    for (int i = 0; i < 3; i++) {
        CHECK_STATUS(sdd_downloader_idle_wait(downloaders[i], -1), SDD_OK);
        CHECK_ENDED(&records[i], SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_TOO_SLOW);
        record_clear(&records[i]);
        destroy(downloaders[i]);
    }
    CHECK(milliseconds_now() - begin < 40000);
    CHECK_EQUAL(helper_count(), 0);
}

static void programs_that_are_none(void)
{
    config_groups groups;
    sdd_downloader_config config = isolated(&groups);
    sdd_downloader *downloader = NULL;
    static const char *const missing[] = { "sdd-decoder", "/missing/sdd-decoder", "/etc/passwd" };
    for (int i = 0; i < 3; i++) {
        set_program(missing[i]);
        CHECK_STATUS(sdd_downloader_create(&config, &downloader), SDD_ERROR_UNSUPPORTED);
        CHECK(downloader == NULL && strstr(sdd_last_error_message(), "decode_mode") != NULL);
        CHECK(strstr(sdd_last_error_message(), missing[i]) != NULL);
    }
    static const char *const others[] = { "/bin/true", "/bin/cat", "/tmp" };
    for (int i = 0; i < 3; i++) {
        OWNED_RECORD r = RECORD_INIT;
        set_program(others[i]);
        downloader = make_downloader(&config);
        fetch(downloader, &r, at("/file/png/rgb8.png"), 0);
        CHECK_ENDED(&r, SDD_ERROR_NO_RESOURCES, SDD_DETAIL_RESOURCES_DECODER);
        destroy(downloader);
        CHECK_EQUAL(helper_count(), 0);
    }
}

/* -------------------------------------------------------------------------------- many at the same time */

enum { REQUESTS = 400 };

static void helpers_are_killed_at_any_time(void)
{
    static const char *const files[] = { "large/progressive.jpg", "large/rows.png", "large/baseline.jpg" };
    config_groups groups;
    sdd_downloader_config config = isolated(&groups);
    config.decode_threads = 4;
    sdd_downloader *downloader = make_downloader(&config);
    int count = scaled(REQUESTS), good = 0;
    pid_t killed = 0;
    record *records = calloc((size_t)count, sizeof *records);
    for (int i = 0; i < count; i++) {
        char path[128];
        records[i] = (record)RECORD_INIT;
        snprintf(path, sizeof path, "/file/%s?%d", files[i % 3], i);
        if (i % 2) submit_with_previews(downloader, &records[i], at(path));
        else record_submit(downloader, &records[i], at(path), 0);
    }
    for (int i = 0; i < count; i++) {
        pid_t found[MOST_HELPERS];
        int number = helpers(found);
        if (number > 0) {
            killed = found[i % number];
            (void)kill(killed, SIGKILL);
        }
        record_wait(&records[i]);
        if (records[i].error == SDD_OK) good++;
        else CHECK_ENDED(&records[i], SDD_ERROR_NO_RESOURCES, SDD_DETAIL_RESOURCES_DECODER);
        record_clear(&records[i]);
    }
    free(records);
    (void)waitid(P_PID, (id_t)killed, &(siginfo_t){ 0 }, WEXITED | WNOWAIT);
    fetch_good(downloader);
    destroy(downloader);
    CHECK_EQUAL(helper_count(), 0);
    printf("    %d of %d pictures were decoded\n", good, count);
}

/* The main function of the program does nothing where the library has not started it. */
static void the_program_is_started_by_hand(void)
{
    char name[] = "sdd-decoder", library[] = "libsdd.so.0", memory[] = "1000", number[] = "1000";
    char *arguments[] = { name, library, memory, number, number, 0 };
    int input = dup(0), file = open("/dev/null", O_RDONLY);
    CHECK(dup2(file, 0) == 0);
    CHECK_EQUAL(sdd_decoder_main(0, NULL), 64);
    CHECK_EQUAL(sdd_decoder_main(1, arguments), 64);
    CHECK_EQUAL(sdd_decoder_main(4, arguments), 64);
    CHECK_EQUAL(sdd_decoder_main(5, arguments), 64); /* no socket */
    memory[0] = '-';
    CHECK_EQUAL(sdd_decoder_main(5, arguments), 64);
    CHECK(dup2(input, 0) == 0 && close(input) == 0 && close(file) == 0);
    file = open("/dev/null", O_RDONLY); /* nothing was given up */
    CHECK(file >= 0 && close(file) == 0);
}

/* What is started once in a process, perhaps by a sanitizer, is not counted. */
static void fetch_first(void)
{
    OWNED_DOWNLOADER downloader = isolated_downloader(1);
    fetch_good(downloader);
}

int main(void)
{
    start_watchdog();
    char path[1024];
    snprintf(path, sizeof path, "%s/misbehaving.so", setting("SDD_TEST_OBJECTS"));
    fetch_first();
    int threads = count_threads(), descriptors = count_descriptors();
    RUN(the_program_is_started_by_hand);
    RUN(one_helper_decodes_many_pictures);
    RUN(an_idle_helper_is_killed);
    RUN(an_image_outlives_its_downloader);
    RUN(others_wait_for_helpers);
    RUN(helpers_are_killed_at_any_time);
    CHECK_STATUS(sdd_process_load_coder_wait(path), SDD_OK);
    RUN(a_coder_that_ends_its_process);
    RUN(a_coder_that_never_answers);
    RUN(what_a_coder_may_do);
    RUN(frames_of_a_coder_are_checked);
    CHECK_STATUS(sdd_process_remove_coder("misbehaving"), SDD_OK);
    RUN(a_program_that_does_not_begin);
    RUN(a_program_that_lies);
    RUN(a_program_with_other_pixels);
    RUN(a_program_with_another_profile);
    RUN(a_program_that_hangs);
    RUN(programs_that_are_none);
    CHECK_NOTHING_LEFT(threads, descriptors);
    return 0;
}
