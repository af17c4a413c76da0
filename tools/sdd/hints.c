#include "hints.h"

#include <stddef.h>
#include <string.h>

#define ONLY_GET "sdd only sends GET"
#define NO_PAGES "sdd fetches the URLs that it is given, and reads no pages"
#define NO_CONFIG "sdd reads no configuration; -i reads a list of URLs, and the shell has aliases"
#define NO_TIMES \
    "a file has the time of its download; what exists is skipped with --no-clobber, and --cache asks servers for news"
#define CREDENTIALS "use --user NAME:PASSWORD, or --user @FILE, which has one line NAME:PASSWORD"
#define HEADS "sdd get --json prints status and type, sdd info what a server says about a picture"

/* The names are those of curl(1), wget(1) and aria2c(1). A letter may have other meanings there; the clause has them. */
static const struct {
    const char *name;
    int letter;
    const char *clause;
} hints[] = {
    { "no-check-certificate", 0, "use --insecure (-k)" },
    { "check-certificate", 0, "certificates are checked anyway; --insecure accepts any" },
    { "ca-certificate", 0, "use --cacert" },
    { "ca-directory", 0, "use --capath" },
    { "certificate", 0, "use --cert (-E)" },
    { "private-key", 0, "use --key" },
    { "secure-protocol", 0, "use --min-tls" },
    { "tlsv1.2", 0, "use --min-tls 1.2, which is the default" },
    { "oauth2-bearer", 0, "use --bearer" },
    { "basic", 0, CREDENTIALS },
    { "digest", 0, CREDENTIALS },
    { "anyauth", 0, CREDENTIALS },
    { "http-user", 0, CREDENTIALS },
    { "http-password", 0, CREDENTIALS },
    { "http-passwd", 0, CREDENTIALS },
    { "password", 0, CREDENTIALS },
    { "netrc-file", 0, CREDENTIALS },
    { "netrc-optional", 0, CREDENTIALS },
    { "proxy-user", 'U',
      "a proxy's name and password are in its URL, as in --proxy http://NAME:PASSWORD@HOST; wget's -U is --user-agent (-A)" },
    { "proxy-password", 0, "a proxy's name and password are in its URL, as in --proxy http://NAME:PASSWORD@HOST" },
    { "all-proxy", 0, "use --proxy" },
    { "http-proxy", 0, "use --proxy" },
    { "https-proxy", 0, "use --proxy" },
    { "socks5", 0, "use --proxy socks5://HOST:PORT" },
    { "socks5-hostname", 0, "use --proxy socks5h://HOST:PORT" },
    { "noproxy", 0, "use --no-proxy" },
    { "timestamping", 'N', NO_TIMES },
    { "remote-time", 'R', NO_TIMES },
    { "time-cond", 'z', NO_TIMES },
    { "conditional-get", 0, NO_TIMES },
    { "etag-save", 0, "--cache keeps what servers say of their pictures, and asks them for news" },
    { "etag-compare", 0, "--cache keeps what servers say of their pictures, and asks them for news" },
    { "dump-header", 'D', HEADS },
    { "server-response", 0, HEADS },
    { "save-headers", 0, HEADS },
    { "write-out", 0, "--json prints what happened to each URL" },
    { "show-error", 'S', "errors are shown anyway; sdd info says what a server says about a picture" },
    { "fail-with-body", 0, "an error status is a failure anyway; see --accept-status" },
    { "fail-early", 0, "each URL is tried, and --json tells which failed" },
    { "config", 'K', NO_CONFIG },
    { "execute", 0, NO_CONFIG },
    { "disable", 0, NO_CONFIG },
    { "parallel-immediate", 'Z', "several URLs are fetched at a time anyway; see --parallel (-j)" },
    { "max-connection-per-server", 0, "use --per-host" },
    { "globoff", 'g', "URLs are taken as they are: patterns are not expanded" },
    { "path-as-is", 0, "URLs are taken as they are" },
    { "remote-name-all", 0, "files are named after their URLs anyway" },
    { "create-dirs", 0, "directories are made anyway" },
    { "force-directories", 0, "use --output '{host}/{name}.{ext}'" },
    { "no-directories", 0, "files are in one directory anyway" },
    { "cut-dirs", 0, "files are in one directory anyway; --output names others" },
    { "trust-server-names", 0, "use --content-disposition" },
    { "remove-on-error", 0, "nothing is left of a download that failed anyway" },
    { "auto-file-renaming", 0, "a file whose name is taken gets a number anyway" },
    { "allow-overwrite", 0, "use --force" },
    { "clobber", 0, "use --force" },
    { "spider", 0, "sdd info reads no more of a picture than its facts need, and sdd bench keeps nothing" },
    { "next", 0, "options are for all URLs of a run; use a run for each" },
    { "url", 0, "URLs are arguments" },
    { "get", 'G', ONLY_GET },
    { "post-data", 0, ONLY_GET },
    { "post-file", 0, ONLY_GET },
    { "method", 0, ONLY_GET },
    { "body-data", 0, ONLY_GET },
    { "data-raw", 0, ONLY_GET },
    { "data-binary", 0, ONLY_GET },
    { "data-urlencode", 0, ONLY_GET },
    { "delete", 0, ONLY_GET },
    { "retry-max-time", 0, "use --max-time, which is for all attempts together" },
    { "retry-wait", 0, "use --retry-delay" },
    { "waitretry", 0, "use --retry-delay" },
    { "max-tries", 0, "use --tries" },
    { "dns-timeout", 0, "use --connect-timeout, which is for the lookup too" },
    { "read-timeout", 0, "use --timeout" },
    { "speed-time", 'y', "use --timeout, the longest time without a byte" },
    { "speed-limit", 'Y', "use --timeout, the longest time without a byte" },
    { "random-wait", 0, "use --wait" },
    { "rate", 0, "use --wait, the least time between two requests to a host" },
    { "quota", 0, "use --max-size, which is for each picture" },
    { "quiet-progress", 0, "use --no-progress" },
    { "no-progress-meter", 0, "use --no-progress" },
    { "progress-bar", '#', "bars are drawn on terminals anyway; see --no-progress" },
    { "no-verbose", 0, "use --no-progress" },
    { "output-file", 0, "use 2>FILE; --output names pictures" },
    { "append-output", 0, "use 2>>FILE; --output names pictures" },
    { "debug", 0, "use --verbose twice (-vv)" },
    { "trace", 0, "use --verbose twice (-vv)" },
    { "trace-ascii", 0, "use --verbose twice (-vv)" },
    { "bind-address", 0, "use --interface" },
    { "inet4-only", 0, "use --ipv4 (-4)" },
    { "inet6-only", 0, "use --ipv6 (-6)" },
    { "connect-to", 0, "use --resolve" },
    { "http1.0", '0', "use --http 1.0" },
    { "http2-prior-knowledge", 0, "use --http 2-prior-knowledge" },
    { "http3", 0, "use --http 3" },
    { "junk-session-cookies", 0, "remove them from the file: their time is 0 there" },
    { "keep-session-cookies", 0, "the cookies without an end that --cookie-jar has found in its file stay there" },
    { "level", 'l', NO_PAGES },
    { "accept", 0, NO_PAGES },
    { "reject", 0, NO_PAGES },
    { "convert-links", 0, NO_PAGES },
    { "no-parent", 0, NO_PAGES },
    { "span-hosts", 0, NO_PAGES },
    { "domains", 0, NO_PAGES },
};

const char *hint_for(const char *name, int letter)
{
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (name != NULL ? strcmp(hints[i].name, name) == 0 : letter != 0 && hints[i].letter == letter)
            return hints[i].clause;
    return NULL;
}
