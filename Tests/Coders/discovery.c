/* Installed coders, as run.sh sets them up: which are found, which are refused, and when they are loaded. Each mode is a
   process of its own, because the library looks once:
 *
 *     discovery decode FILE              decodes it; prints "FORMAT WIDTH HEIGHT", or the error's sentence
 *     discovery lazy WEBP JPEG           webp.so is loaded for the first WebP, and nothing else is
 *     discovery accept                   prints the "Accept" field of a request
 *     discovery off WEBP                 a downloader without installed coders, beside one with them
 *     discovery threads WEBP             several threads decode the first picture: the object is loaded once
 *     discovery fork WEBP                a fork while a thread loads the object waits for it
 *     discovery child WEBP               a child loads the object that its parent has found
 *     discovery twice WEBP               the same error for each picture; the object is tried once
 *     discovery before WEBP              a coder of the application is asked before an installed one
 *     discovery encode FORMAT            encodes and decodes; prints the size, or the error's sentence
 *     discovery facts FORMAT FILE        sdd_image_probe() has no facts; its coder and a request have
 *     discovery download WEBP            a request's error for a picture that nothing decodes
 */
#include "../C/record.h"
#include "../C/server.h"

#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_int loads;
static int waits;
static sem_t is_inside, goes_on;

/* Called by the objects of object.c when they are loaded. */
void coder_is_loaded(void);
void coder_is_loaded(void)
{
    loads++;
    if (!waits) return;
    CHECK(sem_post(&is_inside) == 0);
    take(&goes_on);
}

static uint8_t *read_all(const char *name, size_t *size)
{
    FILE *file = fopen(name, "rb");
    if (file == NULL) FAIL("there is no file %s", name);
    uint8_t *bytes = malloc(1 << 22);
    *size = fread(bytes, 1, 1 << 22, file);
    fclose(file);
    return bytes;
}

static sdd_status decode_file(const char *name, sdd_image **image)
{
    size_t size;
    uint8_t *bytes = read_all(name, &size);
    sdd_status status = sdd_image_decode(bytes, size, NULL, image);
    free(bytes);
    return status;
}

static int decodes(const char *name)
{
    sdd_image *image = NULL;
    sdd_status status = decode_file(name, &image);
    sdd_image_release(image);
    return status == SDD_OK;
}

/* Whether an object whose path ends like this is mapped into this process. */
static int is_mapped(const char *ending)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096];
    int is_there = 0;
    while (fgets(line, sizeof line, maps) != NULL) {
        line[strcspn(line, "\n")] = 0;
        size_t length = strlen(line);
        if (length >= strlen(ending) && strcmp(line + length - strlen(ending), ending) == 0) is_there = 1;
    }
    fclose(maps);
    return is_there;
}

static int mode_decode(char **names)
{
    sdd_image *image = NULL;
    sdd_status status = decode_file(names[0], &image);
    if (status == SDD_OK)
        printf("%d %d %d\n", image_info(image).format, sdd_image_width(image), sdd_image_height(image));
    else
        printf("%d %d %s\n", status, last_detail(), sdd_last_error_message());
    sdd_image_release(image);
    return 0;
}

static void keep_facts(sdd_token token, const sdd_image_info *facts, void *user_data)
{
    sdd_image_info *kept = user_data;
    (void)token;
    CHECK_EQUAL(kept->format, 0); /* once */
    *kept = *facts;
}

static void is_good(const sdd_result *result, void *user_data)
{
    (void)user_data;
    CHECK_STATUS(result->failure.status, SDD_OK);
}

/* sdd_image_probe() asks no coder: a picture has facts once its coder has decoded it, and in a request. */
static int mode_facts(char **names)
{
    sdd_image_info facts = SDD_IMAGE_INFO_INIT, decoded = SDD_IMAGE_INFO_INIT, told = SDD_IMAGE_INFO_INIT;
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    sdd_image *image = NULL;
    size_t size;
    char path[300];
    uint8_t *bytes = read_all(names[1], &size);
    CHECK_EQUAL(sdd_image_sniff(bytes, size), atoi(names[0]));
    for (int after = 0; after < 2; after++) {
        facts.stored_width = 1;
        CHECK_STATUS(sdd_image_probe(bytes, size, &facts), SDD_ERROR_BAD_IMAGE_DATA);
        CHECK(facts.stored_width == 0 && facts.format == 0);
        if (after == 0) CHECK_STATUS(sdd_image_decode(bytes, size, NULL, &image), SDD_OK);
    }
    CHECK_STATUS(sdd_image_get_info(image, &decoded), SDD_OK);
    CHECK(decoded.format == atoi(names[0]) && decoded.frame_count == 1 && decoded.stored_width > 1);
    CHECK(decoded.stored_width == sdd_image_width(image) && decoded.stored_height == sdd_image_height(image));
    sdd_image_release(image);
    free(bytes);

    snprintf(path, sizeof path, "/file/%s", strrchr(names[1], '/') + 1);
    request.url = at(path), request.facts = keep_facts, request.completed = is_good;
    request.user_data = &told;
    CHECK(sdd_downloader_submit(NULL, &request) != 0);
    CHECK_STATUS(sdd_downloader_idle_wait(NULL, 30000), SDD_OK);
    CHECK(told.format == decoded.format && told.stored_width == decoded.stored_width &&
          told.stored_height == decoded.stored_height);
    return 0;
}

static sdd_downloader *new_downloader(int32_t is_without)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    sdd_downloader *downloader = NULL;
    config.no_installed_coders = is_without;
    CHECK_STATUS(sdd_downloader_create(&config, &downloader), SDD_OK);
    return downloader;
}

/* Copies the "Accept" line of the request that the server shows. */
static void get_accept(sdd_downloader *downloader, char *line, size_t room)
{
    sdd_bytes *bytes = NULL;
    CHECK_STATUS(sdd_get(downloader, at("/echo"), SDD_OPTION_BYTES_ONLY, 30000, NULL, &bytes, NULL), SDD_OK);
    char *text = calloc(1, sdd_bytes_size(bytes) + 1);
    memcpy(text, sdd_bytes_data(bytes), sdd_bytes_size(bytes));
    const char *field = strstr(text, "\nAccept: ");
    CHECK(field != NULL);
    snprintf(line, room, "%.*s", (int)strcspn(field + 9, "\r\n"), field + 9);
    free(text);
    sdd_bytes_release(bytes);
}

static int mode_lazy(char **names)
{
    char accept[1000];
    sdd_downloader *downloader = new_downloader(0);
    get_accept(downloader, accept, sizeof accept);
    CHECK(strstr(accept, "image/webp") != NULL);
    CHECK(decodes(names[1]));
    CHECK(!is_mapped("/webp.so") && !is_mapped("/avif.so") && !is_mapped("/heif.so"));
    CHECK(decodes(names[0]));
    CHECK(is_mapped("/webp.so") && !is_mapped("/avif.so") && !is_mapped("/heif.so"));
    destroy(downloader);
    return 0;
}

static int mode_accept(char **names)
{
    char accept[1000];
    sdd_downloader *downloader = new_downloader(0);
    (void)names;
    get_accept(downloader, accept, sizeof accept);
    printf("%s\n", accept);
    destroy(downloader);
    return 0;
}

static int mode_off(char **names)
{
    char accept[1000];
    const char *file = strrchr(names[0], '/') + 1;
    sdd_downloader *without = new_downloader(1), *with = new_downloader(0);
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    sdd_image *image = NULL;
    record r = RECORD_INIT;
    get_accept(without, accept, sizeof accept);
    CHECK_TEXT(accept, "image/jpeg,image/png,image/*;q=0.8,*/*;q=0.5");
    CHECK_STATUS(sdd_downloader_get_config(without, &config), SDD_OK);
    CHECK_EQUAL(config.no_installed_coders, 1);
    fetch(without, &r, atf("/file/%s", file), 0);
    CHECK_ENDED(&r, SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_UNKNOWN_FORMAT);
    CHECK(!is_mapped("/webp.so"));
    record_clear(&r);
    get_accept(with, accept, sizeof accept);
    CHECK(strstr(accept, "image/webp") != NULL);
    CHECK_STATUS(sdd_get(with, atf("/file/%s", file), 0, 30000, &image, NULL, NULL), SDD_OK);
    CHECK_EQUAL(image_info(image).format, SDD_IMAGE_FORMAT_WEBP);
    sdd_image_release(image);
    config.no_installed_coders = 2;
    CHECK_STATUS(sdd_downloader_create(&config, &without), SDD_ERROR_INVALID_ARGUMENT);
    destroy(with);
    return 0;
}

static void *decode_thread(void *name)
{
    CHECK(decodes(name));
    return NULL;
}

static int mode_threads(char **names)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    waits = 1;
    for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, decode_thread, names[0]) == 0);
    take(&is_inside); /* one thread loads; the others need not have begun, but must not load it, too */
    CHECK(sem_post(&goes_on) == 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    CHECK_EQUAL(loads, 1);
    return 0;
}

static void wait_for_child(pid_t child)
{
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void *fork_thread(void *name)
{
    pid_t child = fork();
    if (child == 0) _exit(decodes(name) && loads == 1 ? 0 : 1);
    wait_for_child(child);
    return NULL;
}

static int mode_fork(char **names)
{
    pthread_t loading, forking;
    waits = 1;
    CHECK(pthread_create(&loading, NULL, decode_thread, names[0]) == 0);
    take(&is_inside);
    CHECK(pthread_create(&forking, NULL, fork_thread, names[0]) == 0);
    /* The fork cannot be seen to wait; if it does not, the child finds no loaded object and counts a second load. */
    CHECK(sem_post(&goes_on) == 0);
    pthread_join(loading, NULL);
    pthread_join(forking, NULL);
    CHECK_EQUAL(loads, 1);
    return 0;
}

static int mode_child(char **names)
{
    sdd_downloader *downloader = new_downloader(0);
    pid_t child = fork();
    if (child == 0) {
        int is_good = !is_mapped("/webp.so") && decodes(names[0]) && is_mapped("/webp.so");
        _exit(!is_good);
    }
    wait_for_child(child);
    CHECK(!is_mapped("/webp.so") && decodes(names[0]));
    child = fork(); /* now it is loaded in the parent, too */
    if (child == 0) _exit(!decodes(names[0]));
    wait_for_child(child);
    destroy(downloader);
    return 0;
}

static int mode_twice(char **names)
{
    char first[2000];
    sdd_image *image = NULL;
    CHECK_FAILS(decode_file(names[0], &image), SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_UNKNOWN_FORMAT);
    snprintf(first, sizeof first, "%s", sdd_last_error_message());
    CHECK_STATUS(decode_file(names[0], &image), SDD_ERROR_BAD_IMAGE_DATA);
    CHECK_TEXT(sdd_last_error_message(), first);
    CHECK(loads <= 1 && image == NULL);
    printf("%s\n", first);
    return 0;
}

static int32_t takes_webp(const void *bytes, size_t size, void *user_data)
{
    (void)user_data;
    return sdd_image_sniff(bytes, size) == SDD_IMAGE_FORMAT_WEBP;
}

static sdd_status refuses(const sdd_coder_task *task, void **decoder, void *user_data)
{
    (void)task, (void)decoder, (void)user_data;
    return SDD_DETAIL_IMAGE_TOO_MANY_SCANS; /* no other coder says that of a WebP */
}

static sdd_status feeds_nothing(void *decoder, const void *bytes, size_t size, int32_t is_last, void *user_data)
{
    (void)decoder, (void)bytes, (void)size, (void)is_last, (void)user_data;
    return SDD_ERROR_UNSUPPORTED;
}

static sdd_status no_frame(void *decoder, sdd_coder_frame *frame, void *user_data)
{
    (void)decoder, (void)frame, (void)user_data;
    return SDD_ERROR_NOT_FOUND;
}

static void close_nothing(void *decoder, void *user_data) { (void)decoder, (void)user_data; }

static int mode_before(char **names)
{
    sdd_coder coder = SDD_CODER_INIT;
    sdd_image *image = NULL;
    coder.name = "own", coder.format = SDD_IMAGE_FORMAT_WEBP, coder.can_decode = takes_webp, coder.open = refuses;
    coder.feed = feeds_nothing, coder.next = no_frame, coder.close = close_nothing;
    CHECK_STATUS(sdd_process_add_coder(&coder), SDD_OK);
    CHECK_FAILS(decode_file(names[0], &image), SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_TOO_MANY_SCANS);
    CHECK(!is_mapped("/webp.so"));
    CHECK_STATUS(sdd_process_remove_coder("own"), SDD_OK);
    CHECK(decodes(names[0]));
    return 0;
}

static int mode_encode(char **names)
{
    enum { WIDTH = 33, HEIGHT = 21 };
    static uint8_t pixels[WIDTH * HEIGHT * 4];
    sdd_encode_options options = SDD_ENCODE_OPTIONS_INIT;
    sdd_image *image = NULL, *again = NULL;
    sdd_bytes *bytes = NULL;
    for (int i = 0; i < WIDTH * HEIGHT * 4; i++) pixels[i] = (uint8_t)(i % 4 == 3 ? 255 : i / 5 + i / WIDTH);
    CHECK_STATUS(sdd_image_create(WIDTH, HEIGHT, SDD_PIXEL_FORMAT_RGBA8, pixels, 0, &image), SDD_OK);
    options.format = atoi(names[0]);
    options.quality = 100;
    sdd_status status = sdd_image_encode(image, &options, &bytes);
    if (status != SDD_OK) {
        printf("%d %s\n", status, sdd_last_error_message());
    } else {
        CHECK_EQUAL(sdd_image_sniff(sdd_bytes_data(bytes), sdd_bytes_size(bytes)), options.format);
        CHECK_STATUS(sdd_image_decode(sdd_bytes_data(bytes), sdd_bytes_size(bytes), NULL, &again), SDD_OK);
        CHECK(sdd_image_width(again) == WIDTH && sdd_image_height(again) == HEIGHT);
        CHECK(sdd_image_stride(again) == WIDTH * 4);
        CHECK(memcmp(sdd_image_pixels(again), pixels, sizeof pixels) == 0); /* quality 100 is lossless */
        printf("%d\n", options.format);
    }
    sdd_bytes_release(bytes);
    sdd_image_release(image);
    sdd_image_release(again);
    return 0;
}

static int mode_download(char **names)
{
    record r = RECORD_INIT;
    sdd_downloader *downloader = new_downloader(0);
    fetch(downloader, &r, atf("/file/%s", strrchr(names[0], '/') + 1), 0);
    CHECK_ENDED(&r, SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_UNKNOWN_FORMAT);
    printf("%s\n", r.message);
    record_clear(&r);
    destroy(downloader);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(char **);
    } modes[] = { { "decode", mode_decode }, { "lazy", mode_lazy }, { "accept", mode_accept }, { "off", mode_off },
                  { "threads", mode_threads }, { "fork", mode_fork }, { "child", mode_child }, { "twice", mode_twice },
                  { "before", mode_before }, { "encode", mode_encode }, { "facts", mode_facts }, { "download", mode_download } };
    CHECK(argc > 1 && sem_init(&is_inside, 0, 0) == 0 && sem_init(&goes_on, 0, 0) == 0);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(argv[1], modes[i].name) == 0) return modes[i].run(argv + 2);
    return 2;
}
