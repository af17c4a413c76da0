#include "suggest.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 40 };

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* The number of letters to insert, remove, replace, or swap with their neighbours: the optimal string alignment. */
static size_t distance(const char *a, const char *b)
{
    size_t rows[3][LONGEST + 2] = { { 0 } }, length = strlen(b);
    for (size_t j = 0; j <= length; j++) rows[0][j] = j;
    for (size_t i = 1; a[i - 1] != 0; i++) {
        size_t *row = rows[i % 3], *before = rows[(i + 2) % 3], *second = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= length; j++) {
            row[j] = least(least(before[j], row[j - 1]) + 1, before[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], second[j - 2] + 1);
        }
    }
    return rows[strlen(a) % 3][length];
}

void suggest_offer(struct suggestion *suggestion, const char *name)
{
    size_t length = strlen(suggestion->given), other = strlen(name);
    if (length == 0 || length > LONGEST || other > LONGEST) return;
    size_t found = distance(suggestion->given, name), most = length < 3 ? 1 : length < 6 ? 2 : 3;
    if (found > most || found >= length || (suggestion->nearest != NULL && found >= suggestion->distance)) return;
    suggestion->nearest = name;
    suggestion->distance = found;
}

const char *suggest_words(const struct suggestion *suggestion, const char *before)
{
    static char words[LONGEST + 32];
    words[0] = 0;
    if (suggestion->nearest != NULL) snprintf(words, sizeof words, "; did you mean %s%s?", before, suggestion->nearest);
    return words;
}
