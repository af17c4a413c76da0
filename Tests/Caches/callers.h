/*
 * callers.h - for calls.c: identifies the caller of a function: the object of the process that an address belongs to,
 * the function of the library, and how many calls of each kind came from each place.
 */
#ifndef CALLERS_H
#define CALLERS_H

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------ objects */

typedef struct object {
    uintptr_t base, start, end;
    char name[64], path[512];
} object;

static object objects[96];
static int object_count;

static int add_object(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    if (object_count == 96) return 1;
    object *o = &objects[object_count];
    *o = (object){ .base = info->dlpi_addr, .start = UINTPTR_MAX };
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
        uintptr_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, end = start + info->dlpi_phdr[i].p_memsz;
        if (start < o->start) o->start = start;
        if (end > o->end) o->end = end;
    }
    const char *path = info->dlpi_name, *slash = strrchr(path, '/');
    snprintf(o->path, sizeof o->path, "%s", path);
    snprintf(o->name, sizeof o->name, "%s", object_count == 0 ? "program" : slash ? slash + 1 : path);
    object_count++;
    return 0;
}

static void find_objects(void)
{
    if (object_count == 0) dl_iterate_phdr(add_object, NULL);
}

static const object *object_of(const void *address)
{
    for (int i = 0; i < object_count; i++)
        if ((uintptr_t)address >= objects[i].start && (uintptr_t)address < objects[i].end) return &objects[i];
    return NULL;
}

static int is_of_the_program(const void *caller) { return object_count > 0 && object_of(caller) == &objects[0]; }

/* ---------------------------------------------------------------------------------------- functions */

/* The symbol table of the library's file, which the loader does not map. */
static const Elf64_Sym *symbols;
static const char *symbol_names;
static size_t symbol_count;
static const object *symbols_of;

static void *map_file(const char *path)
{
    int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return NULL;
    long size = syscall(SYS_lseek, file, 0, SEEK_END);
    long mapped = syscall(SYS_mmap, NULL, size, 1 /* PROT_READ */, 2 /* MAP_PRIVATE */, file, 0);
    syscall(SYS_close, file);
    return mapped < 0 && mapped > -4096 ? NULL : (void *)mapped;
}

static void find_symbols(const object *library)
{
    if (symbols_of) return;
    symbols_of = library;
    const char *file = map_file(library->path);
    if (!file) return;
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)file;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(file + header->e_shoff);
    for (int i = 0; i < header->e_shnum; i++) {
        if (sections[i].sh_type != SHT_SYMTAB) continue;
        symbols = (const Elf64_Sym *)(file + sections[i].sh_offset);
        symbol_names = file + sections[sections[i].sh_link].sh_offset;
        symbol_count = sections[i].sh_size / sizeof *symbols;
    }
}

/* Returns the name of the function of libsdd.so that contains an address, or "" if it is unknown. */
static const char *function_of(const object *library, const void *address)
{
    if (!library || strncmp(library->name, "libsdd", 6) != 0) return "";
    find_symbols(library);
    uintptr_t at = (uintptr_t)address - library->base;
    for (size_t i = 0; i < symbol_count; i++)
        if (ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC && at >= symbols[i].st_value &&
            at < symbols[i].st_value + symbols[i].st_size)
            return symbol_names + symbols[i].st_name;
    return "";
}

static int begins_with(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

static int looks_like_the_runtime(const void *caller)
{
    const object *o = object_of(caller);
    if (o && strncmp(o->name, "libstdc++", 9) == 0) return 1;
    const char *name = function_of(o, caller);
    return begins_with(name, "swift_") || begins_with(name, "_swift") || begins_with(name, "_Z") ||
           begins_with(name, "$ss") || begins_with(name, "$sS");
}

/* Whether Swift's runtime or its standard library asks for this memory; without it they end the process. Found out once
   for each place. */
static int is_of_the_runtime(const void *caller)
{
    static _Atomic(const void *) known[4096];
    static _Atomic char is_runtime[4096];
    size_t slot = (uintptr_t)caller % 4093;
    if (atomic_load(&known[slot]) == caller) return atomic_load(&is_runtime[slot]) != 0;
    char answer = (char)looks_like_the_runtime(caller);
    atomic_store(&known[slot], NULL);
    atomic_store(&is_runtime[slot], answer);
    atomic_store(&known[slot], caller);
    return answer;
}

/* -------------------------------------------------------------------------------------------- places */

/* Calls from one place: the index of the first among its kind, and their number. */
typedef struct place {
    _Atomic(const void *) caller;
    const char *kind;
    atomic_int first, count;
} place;

static place places[2048];
static struct {
    const char *name;
    atomic_int count;
} kinds[] = {
    { "open", 0 },    { "mkdir", 0 },  { "write", 0 },  { "rename", 0 }, { "unlink", 0 },  { "sync", 0 },
    { "flock", 0 },   { "cut", 0 },    { "read", 0 },   { "seek", 0 },   { "stat", 0 },    { "times", 0 },
    { "list", 0 },    { "fcntl", 0 },  { "socket", 0 }, { "connect", 0 }, { "send", 0 },   { "recv", 0 },
    { "sockopt", 0 }, { "thread", 0 }, { "poll", 0 },   { "eventfd", 0 }, { "mmap", 0 },   { "malloc", 0 },
    { "swift", 0 },   { "clock", 0 },  { "bell", 0 },   { "hear", 0 },
};

/* Whether a kind of call changes files, so that kill -9 is tried there. */
static int changes_files(const char *kind)
{
    for (int i = 0; i < 8; i++)
        if (strcmp(kinds[i].name, kind) == 0) return 1;
    return 0;
}

static int report = -1;

static void open_report(const char *path)
{
    if (path) report = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static void say_place(char *line, size_t capacity, const void *caller)
{
    const object *o = object_of(caller);
    const char *function = function_of(o, caller);
    snprintf(line, capacity, "%s+%lx %s", o ? o->name : "?", o ? (uintptr_t)caller - o->base : 0, function);
}

static void report_failure(const char *kind, int number, int error, const void *caller)
{
    char where[400], line[500];
    if (report < 0) return;
    say_place(where, sizeof where, caller);
    int length = snprintf(line, sizeof line, "failed %s %d %d %s\n", kind, number, error, where);
    syscall(SYS_write, report, line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
}

static void count_call(const char *kind, const void *caller)
{
    int number = 0;
    if (report < 0) return;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, kind) == 0) number = atomic_fetch_add(&kinds[i].count, 1) + 1;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const void *none = NULL;
        place *p = &places[i];
        if (atomic_compare_exchange_strong(&p->caller, &none, caller)) {
            p->kind = kind;
            atomic_store(&p->first, number);
        } else if (none != caller) {
            continue;
        }
        atomic_fetch_add(&p->count, 1);
        return;
    }
}

/* Writes lines "place KIND FIRST COUNT OBJECT+OFFSET FUNCTION", and "all KIND COUNT". */
void calls_report(void)
{
    char where[400], line[500];
    for (size_t i = 0; report >= 0 && i < sizeof kinds / sizeof *kinds; i++)
        dprintf(report, "all %s %d\n", kinds[i].name, atomic_load(&kinds[i].count));
    for (size_t i = 0; report >= 0 && i < sizeof places / sizeof *places && places[i].caller; i++) {
        say_place(where, sizeof where, places[i].caller);
        snprintf(line, sizeof line, "place %s %d %d %s", places[i].kind, places[i].first, places[i].count, where);
        dprintf(report, "%s\n", line);
    }
}

#endif
