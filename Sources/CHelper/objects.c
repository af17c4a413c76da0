// The files from which the system has loaded the dependencies of an object in this process.
#define _GNU_SOURCE
#include "objects.h"

#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_OBJECTS = 512, MOST_NEEDED = 64 };

/// One loaded object. All texts are copies, since another thread may unload objects.
struct loaded {
    char *path, *name;
    char *needed[MOST_NEEDED];
    int needed_count, is_wanted, is_library;
};

struct table {
    struct loaded *objects[MOST_OBJECTS];
    int count;
};

static const ElfW(Dyn) * dynamic_of(const struct dl_phdr_info *info)
{
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            return (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    return NULL;
}

static const char *texts_of(const struct dl_phdr_info *info, const ElfW(Dyn) * dynamic)
{
    for (const ElfW(Dyn) *entry = dynamic; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag != DT_STRTAB) continue;
        // glibc has added the address already; others have not.
        uintptr_t address = entry->d_un.d_ptr;
        return (const char *)(address < info->dlpi_addr ? address + info->dlpi_addr : address);
    }
    return NULL;
}

/// Whether this function is in the object.
static int has_this(const struct dl_phdr_info *info)
{
    uintptr_t here = (uintptr_t)&has_this - info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && here - part->p_vaddr < part->p_memsz) return 1;
    }
    return 0;
}

static int add(struct dl_phdr_info *info, size_t size, void *context)
{
    struct table *table = context;
    const ElfW(Dyn) *dynamic = dynamic_of(info);
    const char *texts = dynamic != NULL ? texts_of(info, dynamic) : NULL;
    (void)size;
    if (table->count == MOST_OBJECTS) return 1;
    if (texts == NULL || info->dlpi_name == NULL) return 0;
    struct loaded *object = calloc(1, sizeof *object);
    if (object == NULL) return 1;
    table->objects[table->count++] = object;
    object->path = strdup(info->dlpi_name);
    object->is_library = has_this(info);
    for (const ElfW(Dyn) *entry = dynamic; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_SONAME && object->name == NULL) object->name = strdup(texts + entry->d_un.d_val);
        if (entry->d_tag == DT_NEEDED && object->needed_count < MOST_NEEDED)
            object->needed[object->needed_count++] = strdup(texts + entry->d_un.d_val);
    }
    return 0;
}

static void clear(struct table *table)
{
    for (int i = 0; i < table->count; i++) {
        struct loaded *object = table->objects[i];
        for (int n = 0; n < object->needed_count; n++) free(object->needed[n]);
        free(object->path);
        free(object->name);
        free(object);
    }
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/// Whether the dependency of a name is this object.
static int is_called(const struct loaded *object, const char *name)
{
    if (name == NULL || object->path == NULL) return 0;
    return (object->name != NULL && strcmp(object->name, name) == 0) || strcmp(last_part(object->path), name) == 0;
}

/// Marks what an object needs. The depth is that of the longest chain of dependencies, each of which is marked once.
static void want_needs_of(struct table *table, const struct loaded *object)
{
    for (int n = 0; n < object->needed_count; n++) {
        for (int i = 0; i < table->count; i++) {
            struct loaded *other = table->objects[i];
            if (!is_called(other, object->needed[n])) continue;
            if (!other->is_wanted) {
                other->is_wanted = 1;
                want_needs_of(table, other);
            }
            break;
        }
    }
}

/// Whether an object was loaded from a file, perhaps by another path.
static int is_file(const struct loaded *object, const char *path, const struct stat *file)
{
    struct stat other;
    if (object->path == NULL || object->path[0] != '/') return 0;
    if (strcmp(object->path, path) == 0) return 1;
    return stat(object->path, &other) == 0 && other.st_dev == file->st_dev && other.st_ino == file->st_ino;
}

static void want_needs_of_file(struct table *table, const char *path)
{
    struct stat file;
    if (path == NULL || stat(path, &file) != 0) return;
    for (int i = 0; i < table->count; i++)
        if (is_file(table->objects[i], path, &file)) want_needs_of(table, table->objects[i]);
}

/// Returns the length of the path of the C library's folder, and the path.
static size_t folder_of_system(const struct table *table, const char **path)
{
    for (int i = 0; i < table->count; i++) {
        if (!is_called(table->objects[i], "libc.so.6")) continue;
        *path = table->objects[i]->path;
        return (size_t)(last_part(*path) - *path);
    }
    *path = "";
    return 0;
}

/// Whether a helper would not find the object by itself, and a list can name it.
static int is_to_be_named(const struct loaded *object, const char *system, size_t length)
{
    if (!object->is_wanted || object->path == NULL || object->path[0] != '/') return 0;
    if (strpbrk(object->path, " :") != NULL) return 0;
    return (size_t)(last_part(object->path) - object->path) != length || strncmp(object->path, system, length) != 0;
}

char *sddhelper_preload(const char *object)
{
    static const char variable[] = "LD_PRELOAD=";
    struct table table = { .count = 0 };
    const char *system;
    size_t size = sizeof variable;
    (void)dl_iterate_phdr(add, &table);
    for (int i = 0; i < table.count; i++)
        if (table.objects[i]->is_library) want_needs_of(&table, table.objects[i]);
    want_needs_of_file(&table, object);
    size_t length = folder_of_system(&table, &system);
    for (int i = 0; i < table.count; i++)
        if (is_to_be_named(table.objects[i], system, length)) size += strlen(table.objects[i]->path) + 1;
    char *text = size > sizeof variable ? malloc(size) : NULL;
    if (text != NULL) {
        char *end = stpcpy(text, variable);
        for (int i = 0; i < table.count; i++)
            if (is_to_be_named(table.objects[i], system, length))
                end = stpcpy(stpcpy(end, table.objects[i]->path), ":");
        end[-1] = 0;
    }
    clear(&table);
    return text;
}
