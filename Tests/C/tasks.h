/* tasks.h - the threads of this process, as the kernel tells of them. */
#ifndef TASKS_H
#define TASKS_H

#include "check.h"

#include <dirent.h>

/* Reads the first line of /proc/self/task/TASK/FILE, without its end; "" if the thread has gone. */
static inline void task_line(const char *task, const char *file, char *line, size_t size)
{
    char path[300];
    snprintf(path, sizeof path, "/proc/self/task/%s/%s", task, file);
    FILE *opened = fopen(path, "r");
    if (opened == NULL || fgets(line, (int)size, opened) == NULL) line[0] = 0;
    if (opened != NULL) fclose(opened);
    line[strcspn(line, "\n")] = 0;
}

/* Counts the threads for which a function says so. */
static inline int count_tasks(int (*is_one)(const char *task, const char *argument), const char *argument)
{
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    CHECK(tasks != NULL);
    for (struct dirent *entry = readdir(tasks); entry; entry = readdir(tasks))
        count += entry->d_name[0] != '.' && is_one(entry->d_name, argument);
    closedir(tasks);
    return count;
}

#endif
