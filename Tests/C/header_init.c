/* Each initialiser macro makes a struct of zeros with its struct_size. Compiled as C and as C++, and with it the tables
   that have a field, a callback and a call of each kind. */
#include "interface.h"

static int failures;

static void expect(int condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "header_init.c: %s\n", what);
        failures++;
    }
}

/* Checks of each struct with a macro that the macro sets struct_size alone. */
static void macros_set_only_sizes(void)
{
    size_t i, byte;
    for (i = 0; i < STRUCT_COUNT; i++) {
        const struct_row *row = header_structs[i];
        const unsigned char *made = (const unsigned char *)row->init;
        if (made == NULL) continue;
        expect(memcmp(made, &row->size, sizeof row->size) == 0, row->name);
        for (byte = sizeof row->size; byte < row->size; byte++) expect(made[byte] == 0, row->name);
    }
}

/* Prints what the tables say of each field, for comparison with what check-abi.sh reads. */
static void print_fields(void)
{
    size_t i, at;
    for (i = 0; i < STRUCT_COUNT; i++)
        for (at = 0; at < header_structs[i]->count; at++) {
            const field_row *field = &header_structs[i]->fields[at];
            printf("%s.%s %lu %lu\n", header_structs[i]->name, field->name, (unsigned long)field->offset,
                   (unsigned long)field->size);
        }
}

int main(int argc, char **argv)
{
    char version[32];
    if (argc > 1 && strcmp(argv[1], "--fields") == 0) {
        print_fields();
        return 0;
    }
    macros_set_only_sizes();
    snprintf(version, sizeof version, "%d.%d.%d", SDD_VERSION_MAJOR, SDD_VERSION_MINOR, SDD_VERSION_PATCH);
    expect(strcmp(version, SDD_VERSION_STRING) == 0, "SDD_VERSION_STRING is not the three numbers");
    expect(strcmp(sdd_version_string(), SDD_VERSION_STRING) == 0, "header and library have different versions");
    expect(sdd_version() == SDD_VERSION_MAJOR * 1000000u + SDD_VERSION_MINOR * 1000u + SDD_VERSION_PATCH,
           "sdd_version() is not the header's");

    if (failures == 0)
        puts("ok header_init.c");
    return failures != 0;
}
