/* sdd: downloads, describes and shrinks pictures, over the public interface of libsdd. */
#include "commands.h"
#include "jar.h"
#include "output.h"
#include "suggest.h"

#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static const char help[] = "Usage: sdd COMMAND [OPTION...] [ARGUMENT...]\n"
                           "Downloads, describes and shrinks pictures.\n\n"
                           "  sdd get URL...            downloads pictures, many at once, to files\n"
                           "  sdd info FILE|URL...      prints format, size and metadata\n"
                           "  sdd thumbnail FILE|URL... makes small pictures\n"
                           "  sdd cache COMMAND         ls, get, rm, trim, stats, verify, merge\n"
                           "  sdd bench URL...          measures how fast URLs can be downloaded\n\n"
                           "  sdd help COMMAND          prints the options of a command\n"
                           "  sdd --version             prints the versions of libsdd and its libraries\n\n"
                           "  sdd get https://example.org/a.jpg\n"
                           "  sdd get -i urls.txt -d pictures --resume\n"
                           "  sdd get --size 512x512 --fit fill --to jpeg --quality 85 -i urls.txt\n";

static int print_version(void)
{
    struct text line = { 0 };
    char agent[256] = "";
    sdd_downloader *downloader = NULL;
    /* The library's own User-Agent names the version of libcurl: "libsdd/0.4.0 (Linux; x86_64) curl/7.88.1". */
    if (sdd_downloader_create(NULL, &downloader) == SDD_OK) {
        sdd_get_header(downloader, "User-Agent", agent, sizeof agent, NULL);
        sdd_downloader_destroy(downloader);
    }
    const char *curl = strstr(agent, "curl/");
    text_printf(&line, "sdd %s (libsdd %s%s%s)\n", SDD_VERSION_STRING, sdd_version_string(), curl == NULL ? "" : ", ",
                curl == NULL ? "" : curl);
    print_out(line.data, line.size);
    text_free(&line);
    return EXIT_FINE;
}

static const struct {
    const char *name;
    unsigned command;
    int (*run)(struct settings *settings, char **arguments, size_t count);
} commands[] = { { "get", GET, run_get },
                 { "info", INFO, run_info },
                 { "thumbnail", THUMBNAIL, run_get },
                 { "cache", CACHE, run_cache },
                 { "bench", BENCH, run_bench } };
enum { COMMANDS = sizeof commands / sizeof *commands };

static size_t command_at(const char *name)
{
    size_t i = 0;
    while (i < COMMANDS && strcmp(name, commands[i].name) != 0) i++;
    return i;
}

static void refuse_command(const char *name)
{
    struct suggestion near = { .given = name };
    if (*name == 0) usage_error("no command: get, info, thumbnail, cache or bench");
    if (strpbrk(name, "./") != NULL) usage_error("\"%s\" is no command; write: sdd get %s", name, name);
    for (size_t i = 0; i < COMMANDS; i++) suggest_offer(&near, commands[i].name);
    usage_error("\"%s\" is no command: get, info, thumbnail, cache or bench%s", name, suggest_words(&near, ""));
}

/* "sdd help" and "sdd help get". */
static int run_help(const char *name)
{
    size_t i = name == NULL ? COMMANDS : command_at(name);
    if (name == NULL)
        print_out(help, strlen(help));
    else if (i < COMMANDS)
        print_help(commands[i].command, false);
    else
        refuse_command(name);
    return EXIT_FINE;
}

int main(int argc, char **argv)
{
    static struct settings settings; /* for as long as the program runs */
    const char *name = argc < 2 ? "" : argv[1];
    setlocale(LC_CTYPE, "");
    begin_output();
    signal(SIGPIPE, SIG_IGN);
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) return finish_output(print_version());
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) return finish_output(run_help(NULL));
    if (strcmp(name, "help") == 0) return finish_output(run_help(argc > 2 ? argv[2] : NULL));
    size_t i = command_at(name);
    if (i == COMMANDS) refuse_command(name);
    settings_defaults(&settings, commands[i].command);
    int first = 1 + settings_read(&settings, argc - 1, argv + 1);
    int status = commands[i].run(&settings, argv + first, (size_t)(argc - first));
    return finish_output(status == EXIT_FINE && jar_is_lost() ? EXIT_FILES : status);
}
