#include "paths.h"
#include "names.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void make_path(const struct job *job, int32_t format, bool converted, struct file_path *path)
{
    const struct run *run = job->run;
    const char *output = run->settings->output;
    struct text head = { 0 };
    path->number = job->number;
    struct name_facts facts = { .url = job->first,
                                .base = text_string(&job->base),
                                .number = job->report.number,
                                .format = format,
                                .converted = converted || (run->settings->adjust_extension && format != 0),
                                .width = job->report.width,
                                .height = job->report.height };
    if (job->item.output != NULL) {
        path_begin(path, &run->target, "", 0);
        if (!name_add_safe(&path->text, job->item.output, strlen(job->item.output))) text_putc(&path->text, '_');
    } else if (run->target.explicit_name) {
        name_add_plain(&head, output);
        path_begin(path, &run->target, head.data, directory_size(head.data));
        text_puts(&path->text, head.data + directory_size(head.data));
    } else {
        if (output == NULL && run->settings->command == THUMBNAIL) output = "{name}-thumb.{ext}";
        if (output != NULL) name_add_head(&head, output);
        path_begin(path, &run->target, text_string(&head), head.size);
        name_make(&path->text, output, &facts);
    }
    text_free(&head);
}

/* The format that the file of a job will have, as far as it is known before the download; 0: unknown. */
static int32_t known_format(const struct job *job) { return job->convert && job->format != 0 ? job->format : 0; }

void claim_name(struct job *job)
{
    struct file_path path = { 0 };
    int32_t format = known_format(job);
    if (job->run->to_stdout || job->run->target.explicit_name || has_size_field(job->run->settings->output)) return;
    make_path(job, format, format != 0, &path);
    path_claim(&path);
    job->number = path.number;
    text_free(&path.text);
}

/* Tells whether the extension of a job's file depends on what the picture is. */
static bool extension_is_open(const struct job *job)
{
    const char *extension = NULL;
    int32_t named = format_of_name(text_string(&job->base), &extension);
    if (known_format(job) != 0 || job->run->target.explicit_name || job->item.output != NULL) return false;
    bool stays = named > 0 && !job->run->settings->adjust_extension;
    return !stays || (job->convert && named != SDD_IMAGE_FORMAT_JPEG && named != SDD_IMAGE_FORMAT_PNG);
}

/* Looks for a file of a job with a format's extension, which is not its `own` name and not that of another job. */
static bool finds_file(const struct job *job, int32_t format, const char *own, struct text *found)
{
    struct file_path path = { 0 };
    struct stat facts;
    make_path(job, format, job->convert && format != 0, &path);
    do {
        text_clear(found);
        path_add(&path, found);
        path.number++;
    } while (strcmp(found->data, own) != 0 && is_claimed(found->data));
    text_free(&path.text);
    return strcmp(found->data, own) != 0 && stat(found->data, &facts) == 0;
}

bool file_exists(const struct job *job, struct text *found)
{
    int32_t known = known_format(job), format = 0;
    bool exists = false;
    struct stat facts;
    struct file_path path = { 0 };
    make_path(job, known, known != 0, &path);
    path_add(&path, found);
    text_free(&path.text);
    if (stat(found->data, &facts) == 0) return !job->run->target.explicit_name || path_descriptor(found->data) < 0;
    if (!extension_is_open(job)) return false;
    char *own = need_copy(found->data);
    for (size_t next = 0; !exists && (format = format_at(next)) != 0; next++)
        exists = finds_file(job, format, own, found);
    if (exists) path_is_taken(found->data);
    free(own);
    return exists;
}
