/* sdd cache: looks into the directory of a cache, and cleans it. */
#include "commands.h"
#include "entries.h"
#include "files.h"
#include "json.h"
#include "names.h"
#include "output.h"
#include "report.h"
#include "show.h"
#include "suggest.h"
#include "words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct cache_run {
    const struct settings *settings;
    struct text directory;
    sdd_cache *cache; /* opened so that it removes nothing unasked */
    char **arguments;
    size_t count;
    int status;
    uint64_t failed, done; /* of the arguments */
};

static void fail(struct cache_run *run, const char *name, sdd_failure failure, int exit_status)
{
    run->status = combine_status(run->status, exit_status, run->failed++ == 0);
    if (!run->settings->json) {
        struct text words = { 0 };
        add_words(&words, failure.message);
        complain("%s: %s", name, words.data);
        text_free(&words);
        return;
    }
    struct text line = { 0 };
    json_begin(&line);
    json_string(&line, "key", name);
    json_boolean(&line, "ok", false);
    json_error(&line, &failure, failure.message);
    json_end(&line);
    text_free(&line);
}

static char *key_of(struct cache_run *run, const char *argument)
{
    char *key = entry_key(run->cache, argument);
    if (key == NULL) fail(run, argument, last_failure(), EXIT_USAGE);
    return key;
}

/* ------------------------------------------------------------------------------------------------------- listing */

static const char *sort_key;

static int by_sort_key(const void *one, const void *other)
{
    const struct entry *a = one, *b = other;
    int64_t difference = strcmp(sort_key, "size") == 0     ? b->file_bytes - a->file_bytes
                         : strcmp(sort_key, "stored") == 0 ? b->stored_ms - a->stored_ms
                         : strcmp(sort_key, "used") == 0   ? b->used_ms - a->used_ms
                                                           : 0;
    if (difference != 0) return difference < 0 ? -1 : 1;
    return strcmp(a->key == NULL ? a->file : a->key, b->key == NULL ? b->file : b->key);
}

static const char *state_name(int32_t state)
{
    switch (state) {
    case SDD_ENTRY_GOOD: return "good";
    case SDD_ENTRY_EXPIRED: return "expired";
    case SDD_ENTRY_DAMAGED: return "damaged";
    default: return "foreign";
    }
}

static void print_entry_json(const struct cache_run *run, const struct entry *entry)
{
    struct text line = { 0 }, path = { 0 };
    text_printf(&path, "%s/%s", run->directory.data, entry->file);
    json_begin(&line);
    json_string(&line, "key", entry->key);
    json_boolean(&line, "ok", entry->state != SDD_ENTRY_DAMAGED);
    json_string(&line, "state", state_name(entry->state));
    json_boolean(&line, "private", entry->is_private);
    json_string(&line, "path", path.data);
    json_number(&line, "file_bytes", entry->file_bytes);
    if (entry->body_bytes >= 0) json_number(&line, "bytes", entry->body_bytes);
    json_string(&line, "format", format_name(entry->format));
    if (entry->width > 0) json_number(&line, "width", entry->width);
    if (entry->height > 0) json_number(&line, "height", entry->height);
    json_number(&line, "used", entry->used_ms / 1000);
    json_number(&line, "stored", entry->stored_ms / 1000);
    sdd_failure damage = own_failure(SDD_ERROR_CACHE, SDD_DETAIL_CACHE_READ, "The entry is damaged.");
    if (entry->state == SDD_ENTRY_DAMAGED) json_error(&line, &damage, damage.message);
    json_end(&line);
    text_free(&line);
    text_free(&path);
}

static void print_entry(const struct entry *entry)
{
    struct text line = { 0 };
    char date[32] = "", size[32] = "";
    time_t used = (time_t)(entry->used_ms / 1000);
    struct tm parts;
    if (localtime_r(&used, &parts) != NULL) strftime(date, sizeof date, "%Y-%m-%d %H:%M", &parts);
    if (entry->width > 0) snprintf(size, sizeof size, "%dx%d", (int)entry->width, (int)entry->height);
    text_printf(&line, "%9s  %11s %-7s  %s  ", bytes_text(entry->file_bytes), size, format_name(entry->format), date);
    if (entry->state != SDD_ENTRY_GOOD) text_printf(&line, "(%s) ", state_name(entry->state));
    if (entry->is_private) text_puts(&line, "(private) ");
    const char *name = entry->key != NULL ? entry->key : entry->file;
    text_add_clean(&line, name, strlen(name));
    text_putc(&line, '\n');
    print_out(line.data, line.size);
    text_free(&line);
}

static bool is_wanted(const struct cache_run *run, const struct entry *entry)
{
    if (run->count == 0) return true;
    for (size_t i = 0; i < run->count; i++)
        if (entry->key != NULL && strstr(entry->key, run->arguments[i]) != NULL) return true;
    return false;
}

/* Reads all entries. Prints a failure and returns false if some could not be read or removed. */
static bool read_entries(struct cache_run *run, struct entries *entries, bool check, bool remove_damaged)
{
    sdd_status status = entries_read(entries, run->cache, run->directory.data, check, remove_damaged);
    if (status != SDD_OK) fail(run, run->directory.data, last_failure(), EXIT_FILES);
    return status == SDD_OK;
}

static void cache_list(struct cache_run *run)
{
    struct entries entries = { 0 };
    sort_key = run->settings->sort == NULL ? "used" : run->settings->sort;
    if (strcmp(sort_key, "name") != 0 && strcmp(sort_key, "size") != 0 && strcmp(sort_key, "used") != 0 &&
        strcmp(sort_key, "stored") != 0)
        usage_error("--sort: \"%s\" is none of name, size, used, stored", sort_key);
    read_entries(run, &entries, false, false);
    if (entries.count > 0) qsort(entries.items, entries.count, sizeof *entries.items, by_sort_key);
    for (size_t i = 0; i < entries.count && !output_failed(); i++) {
        if (!is_wanted(run, &entries.items[i])) continue;
        if (run->settings->json)
            print_entry_json(run, &entries.items[i]);
        else
            print_entry(&entries.items[i]);
    }
    entries_free(&entries);
}

static void cache_verify(struct cache_run *run)
{
    struct entries entries = { 0 };
    uint64_t damaged = 0;
    struct text line = { 0 };
    bool good = read_entries(run, &entries, true, run->settings->damaged && !run->settings->dry_run);
    for (size_t i = 0; i < entries.count; i++) {
        const struct entry *entry = &entries.items[i];
        if (run->settings->json) print_entry_json(run, entry);
        if (entry->state != SDD_ENTRY_DAMAGED) continue;
        if (!run->settings->json) complain("%s/%s: it is damaged", run->directory.data, entry->file);
        damaged++;
        run->status = combine_status(run->status, EXIT_PICTURE, run->failed++ == 0);
    }
    if ((good || entries.count > 0) && !run->settings->json && !run->settings->quiet) {
        text_printf(&line, "%" PRIu64 " good, %" PRIu64 " damaged", entries.count - damaged, damaged);
        if (good && entries.removed > 0) text_printf(&line, " (%" PRIu64 " removed)", entries.removed);
        text_putc(&line, '\n');
        print_out(line.data, line.size);
    }
    text_free(&line);
    entries_free(&entries);
}

/* ---------------------------------------------------------------------------------------------------- one entry */

/* Refuses to write a picture under a name that is one for another format. */
static bool name_fits(struct cache_run *run, const char *argument, int32_t format)
{
    const char *extension = NULL, *output = run->settings->output;
    int32_t named = output == NULL ? 0 : format_of_name(output, &extension);
    if (named <= 0 || format == 0 || named == format) return true;
    struct text why = { 0 };
    text_printf(&why, "it is %s, and %s is a name for %s; sdd cache get converts nothing", format_title(format), output,
                format_title(named));
    fail(run, argument, own_failure(SDD_ERROR_UNSUPPORTED, 0, why.data), EXIT_USAGE);
    text_free(&why);
    return false;
}

static void copy_entry(struct cache_run *run, const char *argument, int fd, int64_t size)
{
    const struct settings *settings = run->settings;
    struct target target = { .force = settings->force, .explicit_name = settings->output != NULL };
    struct file_path path = { 0 };
    struct text base = { 0 }, line = { 0 };
    void *data = size == 0 ? NULL : mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
    int error = data == MAP_FAILED ? errno : 0;
    target_begin(&target);
    name_from_url(&base, argument);
    struct name_facts facts = { .url = argument, .base = base.data };
    if (error == 0) facts.format = sdd_image_sniff(data, (size_t)size);
    path_begin(&path, &target, settings->output == NULL ? "" : settings->output,
               settings->output == NULL ? 0 : directory_size(settings->output));
    if (settings->output == NULL)
        name_make(&path.text, NULL, &facts);
    else
        text_puts(&path.text, settings->output + path.chosen);
    bool fits = error == 0 && name_fits(run, argument, facts.format);
    if (fits && settings->output != NULL && strcmp(settings->output, "-") == 0)
        print_out(data, (size_t)size);
    else if (fits)
        error = write_file(&target, &path, data, (size_t)size);
    bool is_done = fits && error == 0;
    run->done += is_done;
    if (error != 0)
        fail(run, text_string(&path.text), own_failure(SDD_ERROR_SINK, 0, file_error(error)), EXIT_FILES);
    else if (is_done && settings->json) {
        json_begin(&line);
        json_string(&line, "key", argument);
        json_boolean(&line, "ok", true);
        json_string(&line, "path", text_string(&path.text));
        json_number(&line, "bytes", size);
        json_end(&line);
    }
    if (is_done && settings->show != SHOW_NONE) show_bytes(data, (size_t)size, show_begin(settings->show));
    if (data != NULL && data != MAP_FAILED) munmap(data, (size_t)size);
    text_free(&base), text_free(&path.text), text_free(&line);
}

static const char not_cached[] = "the cache does not have it";

static void cache_get(struct cache_run *run)
{
    const char *output = run->settings->output;
    if (run->count == 0) usage_error("get: no URL");
    if (output != NULL && run->count > 1) usage_error("--output is for one URL");
    check_show(run->settings, output != NULL && strcmp(output, "-") == 0);
    if (output != NULL && strcmp(output, "-") == 0 && run->settings->json)
        usage_error("--output - and --json would mix on standard output");
    if (output != NULL && strcmp(output, "-") == 0 && isatty(1))
        usage_error("standard output is a terminal; --show shows pictures there");
    for (size_t i = 0; i < run->count; i++) {
        char *key = key_of(run, run->arguments[i]);
        int32_t fd = -1;
        int64_t size = 0;
        if (key == NULL) continue;
        sdd_status status = sdd_cache_open_wait(run->cache, key, &fd, &size);
        if (status == SDD_OK) {
            copy_entry(run, run->arguments[i], fd, size);
            close(fd);
        } else {
            sdd_failure failure = last_failure();
            if (status == SDD_ERROR_NOT_CACHED) failure.message = not_cached;
            fail(run, run->arguments[i], failure, class_status(&failure));
        }
        free(key);
    }
}

static void removed(struct cache_run *run, const char *argument)
{
    struct text line = { 0 };
    run->done++;
    if (run->settings->json) {
        json_begin(&line);
        json_string(&line, "key", argument);
        json_boolean(&line, "ok", true);
        json_boolean(&line, "removed", !run->settings->dry_run);
        json_end(&line);
    } else if (!run->settings->quiet) {
        text_puts(&line, run->settings->dry_run ? "would remove " : "removed ");
        text_add_clean(&line, argument, strlen(argument));
        text_putc(&line, '\n');
        print_out(line.data, line.size);
    }
    text_free(&line);
}

static void remove_all(struct cache_run *run)
{
    sdd_cache_statistics statistics = SDD_CACHE_STATISTICS_INIT;
    struct text line = { 0 };
    sdd_status status = sdd_cache_get_statistics_wait(run->cache, &statistics);
    if (status == SDD_OK && !run->settings->dry_run) status = sdd_cache_clear_wait(run->cache, SDD_CACHE_DISK);
    if (status != SDD_OK) {
        fail(run, run->directory.data, last_failure(), EXIT_FILES);
    } else if (run->settings->json) {
        json_begin(&line);
        json_string(&line, "directory", run->directory.data);
        json_boolean(&line, "ok", true);
        json_boolean(&line, "removed", !run->settings->dry_run);
        json_number(&line, "removed_entries", statistics.disk_count);
        json_number(&line, "removed_bytes", statistics.disk_bytes);
        json_end(&line);
    } else {
        text_printf(&line, "%" PRId64 " entries, %s", statistics.disk_count, bytes_text(statistics.disk_bytes));
        removed(run, line.data);
    }
    text_free(&line);
}

static void cache_remove(struct cache_run *run)
{
    if (run->settings->all && run->count > 0) usage_error("rm: --all is for no URLs");
    if (!run->settings->all && run->count == 0) usage_error("rm: no URL; --all removes every entry");
    if (run->settings->all) remove_all(run);
    for (size_t i = 0; i < run->count; i++) {
        char *key = key_of(run, run->arguments[i]);
        if (key == NULL) continue;
        sdd_status status = SDD_OK;
        if (sdd_cache_contains_wait(run->cache, key, SDD_CACHE_DISK) == 0)
            fail(run, run->arguments[i], own_failure(SDD_ERROR_NOT_CACHED, 0, not_cached), EXIT_RESPONSE);
        else if (!run->settings->dry_run && (status = sdd_cache_remove_wait(run->cache, key, SDD_CACHE_DISK)) != SDD_OK)
            fail(run, run->arguments[i], last_failure(), EXIT_FILES);
        else
            removed(run, run->arguments[i]);
        free(key);
    }
}

/* ------------------------------------------------------------------------------------------------ the whole cache */

static void cache_statistics(struct cache_run *run)
{
    sdd_cache_statistics statistics = SDD_CACHE_STATISTICS_INIT;
    struct text line = { 0 };
    sdd_status status = sdd_cache_get_statistics_wait(run->cache, &statistics);
    if (run->count > 0) usage_error("stats takes no argument");
    if (status != SDD_OK) {
        fail(run, run->directory.data, last_failure(), EXIT_FILES);
        return;
    }
    if (run->settings->json) {
        json_begin(&line);
        json_string(&line, "directory", run->directory.data);
        json_boolean(&line, "ok", true);
        json_number(&line, "entries", statistics.disk_count);
        json_number(&line, "bytes", statistics.disk_bytes);
        json_end(&line);
    } else {
        text_printf(&line, "directory: %s\nentries:   %" PRId64 "\nsize:      %s (%" PRId64 " bytes on disk)\n",
                    run->directory.data, statistics.disk_count, bytes_text(statistics.disk_bytes),
                    statistics.disk_bytes);
        if (statistics.disk_count > 0)
            text_printf(&line, "mean:      %s an entry\n", bytes_text(statistics.disk_bytes / statistics.disk_count));
        print_out(line.data, line.size);
    }
    text_free(&line);
}

static void cache_trim(struct cache_run *run)
{
    sdd_cache_statistics before = SDD_CACHE_STATISTICS_INIT, after = SDD_CACHE_STATISTICS_INIT;
    struct text line = { 0 };
    if (run->count > 0) usage_error("trim takes no argument");
    sdd_cache_get_statistics_wait(run->cache, &before);
    sdd_cache_set_disk_limits(run->cache, run->settings->max_size > 0 ? run->settings->max_size : 0,
                              run->settings->max_age > 0 ? run->settings->max_age : 0);
    sdd_status status = sdd_cache_trim_disk_wait(run->cache);
    if (status != SDD_OK) fail(run, run->directory.data, last_failure(), EXIT_FILES);
    sdd_cache_get_statistics_wait(run->cache, &after);
    if (status == SDD_OK && run->settings->json) {
        json_begin(&line);
        json_string(&line, "directory", run->directory.data);
        json_boolean(&line, "ok", true);
        json_number(&line, "removed_entries", before.disk_count - after.disk_count);
        json_number(&line, "removed_bytes", before.disk_bytes - after.disk_bytes);
        json_number(&line, "entries", after.disk_count);
        json_number(&line, "bytes", after.disk_bytes);
        json_end(&line);
    } else if (status == SDD_OK && !run->settings->quiet) {
        text_printf(&line, "removed %" PRId64 " entries, %s; %" PRId64 " entries, %s are left\n",
                    before.disk_count - after.disk_count, bytes_text(before.disk_bytes - after.disk_bytes),
                    after.disk_count, bytes_text(after.disk_bytes));
        print_out(line.data, line.size);
    }
    text_free(&line);
}

static void cache_merge(struct cache_run *run)
{
    if (run->count == 0) usage_error("merge: no directory");
    for (size_t i = 0; i < run->count; i++) {
        int64_t merged = 0;
        struct text line = { 0 };
        struct stat facts;
        if (stat(run->arguments[i], &facts) != 0) {
            fail(run, run->arguments[i], own_failure(SDD_ERROR_CACHE, 0, strerror(errno)), EXIT_FILES);
            continue;
        }
        sdd_status status = sdd_cache_merge_wait(run->cache, run->arguments[i], &merged);
        run->done += status == SDD_OK;
        if (status != SDD_OK) {
            fail(run, run->arguments[i], last_failure(), EXIT_FILES);
        } else if (run->settings->json) {
            json_begin(&line);
            json_string(&line, "directory", run->arguments[i]);
            json_boolean(&line, "ok", true);
            json_number(&line, "moved_entries", merged);
            json_end(&line);
        } else if (!run->settings->quiet) {
            text_printf(&line, "moved %" PRId64 " entries from ", merged);
            text_add_clean(&line, run->arguments[i], strlen(run->arguments[i]));
            text_putc(&line, '\n');
            print_out(line.data, line.size);
        }
        text_free(&line);
    }
}

/* The directory of the options, or that of the library's shared cache. */
static void find_directory(struct cache_run *run)
{
    const char *given = run->settings->cache_dir, *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (given != NULL)
        text_puts(&run->directory, given);
    else if (base != NULL && base[0] == '/')
        text_printf(&run->directory, "%s/sdd/default", base);
    else if (home != NULL)
        text_printf(&run->directory, "%s/.cache/sdd/default", home);
    else
        usage_error("neither XDG_CACHE_HOME nor HOME is set; use --cache-dir");
}

/* Refuses options of other commands: "trim --dry-run" must not remove anything. */
static void check_options(const struct settings *settings, const char *command)
{
    const struct {
        bool is_given;
        const char *option, *commands[2];
    } rows[] = { { settings->output != NULL, "output", { "get" } },
                 { settings->force, "force", { "get" } },
                 { settings->show != SHOW_NONE, "show", { "get" } },
                 { settings->all, "all", { "rm" } },
                 { settings->dry_run, "dry-run", { "rm", "verify" } },
                 { settings->damaged, "remove", { "verify" } },
                 { settings->max_size != NOT_GIVEN, "max-bytes", { "trim" } },
                 { settings->max_age != NOT_GIVEN, "max-age", { "trim" } },
                 { settings->sort != NULL, "sort", { "ls" } } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *first = rows[i].commands[0], *second = rows[i].commands[1];
        bool has_it = strcmp(command, first) == 0 || (second != NULL && strcmp(command, second) == 0);
        if (rows[i].is_given && !has_it)
            usage_error("%s has no --%s, which is for %s%s%s", command, rows[i].option, first,
                        second == NULL ? "" : " and ", second == NULL ? "" : second);
    }
}

int run_cache(struct settings *settings, char **arguments, size_t count)
{
    static const struct {
        const char *name;
        void (*run)(struct cache_run *run);
    } commands[] = { { "ls", cache_list },    { "get", cache_get },          { "rm", cache_remove },
                     { "trim", cache_trim },  { "stats", cache_statistics }, { "verify", cache_verify },
                     { "merge", cache_merge } };
    struct cache_run run = { .settings = settings, .arguments = arguments + 1, .count = count - (count > 0) };
    size_t i = 0;
    if (count == 0) usage_error("no command: ls, get, rm, trim, stats, verify or merge");
    while (i < sizeof commands / sizeof *commands && strcmp(arguments[0], commands[i].name) != 0) i++;
    if (i == sizeof commands / sizeof *commands) {
        struct suggestion near = { .given = arguments[0] };
        for (i = 0; i < sizeof commands / sizeof *commands; i++) suggest_offer(&near, commands[i].name);
        usage_error("\"%s\" is none of ls, get, rm, trim, stats, verify, merge%s", arguments[0],
                    suggest_words(&near, ""));
    }
    check_options(settings, arguments[0]);
    if (strcmp(arguments[0], "verify") == 0 && run.count > 0) usage_error("verify takes no argument");
    if (settings->output != NULL && output_descriptor(settings->output) == 1) settings->output = "-";
    find_directory(&run);
    if (!is_cache(run.directory.data, strcmp(arguments[0], "merge") == 0)) {
        complain("there is no cache %s", run.directory.data);
        text_free(&run.directory);
        return EXIT_FILES;
    }
    run.cache = open_cache(settings);
    commands[i].run(&run);
    if (run.failed > 0 && run.done > 0) run.status = EXIT_SOME_FAILED;
    if (sdd_cache_destroy(run.cache) != SDD_OK) run.status = EXIT_FILES;
    text_free(&run.directory);
    return run.status;
}
