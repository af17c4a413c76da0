/*
 * interface.h - tables of what the header declares, which tools/make_tables.py writes when the tests are compiled, so
 * that a test of all structs, fields or calls does not repeat the header. Compiled as C and as C++.
 */
#ifndef INTERFACE_H
#define INTERFACE_H

#include <sdd/sdd.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The kinds of fields and parameters, as tools/interface.py names them. */
typedef enum kind {
    KIND_SIZE,     /* struct_size */
    KIND_FLAG,     /* 0 or 1 */
    KIND_ENUM,     /* one of `numbers` */
    KIND_BITS,     /* a set of `numbers` */
    KIND_NUMBER,   /* any other integer */
    KIND_COUNT,    /* a size_t */
    KIND_REAL,     /* a double */
    KIND_TEXT,     /* a const char * */
    KIND_OPTIONS,  /* a pointer to a struct that the library reads */
    KIND_RECORD,   /* a pointer to a struct that it fills */
    KIND_HANDLE,   /* a pointer to an object */
    KIND_OUT,      /* a pointer to a pointer that it sets to an object or a struct */
    KIND_CALLBACK, /* a pointer to a function */
    KIND_POINTER   /* any other pointer */
} kind;

typedef void (*any_fn)(void);

/* The numbers of an enumeration. */
typedef struct numbers_row {
    const char *type, *prefix; /* `prefix`: of the names of its numbers, "SDD_FIT_" */
    const int64_t *values;
    size_t count;
} numbers_row;

/* A bit of SDD_OPTION_. */
typedef struct option_row {
    uint64_t bit;
    const char *name;
    const char *letters; /* where it has a meaning, "DLPB"; "": everywhere */
} option_row;

/* A field of a struct, or a parameter of a call. */
typedef struct field_row {
    const char *name, *type;
    enum kind kind;
    size_t offset, size;
    const char *target; /* the struct, object or callback type that it points to */
    const numbers_row *numbers;
    any_fn never;   /* of a callback: a function that ends the test when it is called */
    int is_nonnull; /* whether the header marks it with SDD_NONNULL */
    int is_limit;   /* whether its comment says what SDD_NO_LIMIT means */
} field_row;

typedef struct struct_row {
    const char *name;
    size_t size;
    const void *init; /* what its _INIT macro makes; NULL: it has none */
    const field_row *fields;
    size_t count;
} struct_row;

typedef union argument {
    int64_t number;
    void *pointer;
    any_fn function;
} argument;

typedef struct call_row {
    const char *name, *result; /* `result`: its type */
    int64_t (*call)(const argument *arguments);
    const field_row *parameters;
    size_t count;
} call_row;

/* Ends the test: a callback is called that must not be. */
static inline void never(const char *callback)
{
#ifdef FAIL
    FAIL("%s is called", callback);
#else
    fprintf(stderr, "%s is called\n", callback);
    exit(1);
#endif
}

#include "tables.h"

enum {
    STRUCT_COUNT = sizeof header_structs / sizeof *header_structs,
    OPTION_COUNT = sizeof header_options / sizeof *header_options
};

static inline const struct_row *struct_named(const char *name)
{
    size_t i;
    for (i = 0; i < STRUCT_COUNT; i++)
        if (strcmp(header_structs[i]->name, name) == 0) return header_structs[i];
    fprintf(stderr, "the header has no struct %s\n", name);
    exit(1);
}

static inline const field_row *field_named(const struct_row *owner, const char *name)
{
    size_t i;
    for (i = 0; i < owner->count; i++)
        if (strcmp(owner->fields[i].name, name) == 0) return &owner->fields[i];
    fprintf(stderr, "the header has no field %s.%s\n", owner->name, name);
    exit(1);
}

/* Whether a number is one of an enumeration's. */
static inline int is_among(const numbers_row *numbers, int64_t number)
{
    size_t i;
    for (i = 0; i < numbers->count; i++)
        if (numbers->values[i] == number) return 1;
    return 0;
}

#endif
