/* The readable parts of Exif blocks (CIPA DC-008) and colour profiles (ICC.1). Any bytes are allowed. */
#ifndef SDD_TOOL_EXIF_H
#define SDD_TOOL_EXIF_H

#include "text.h"

/* Called with a name, as Exif spells it, and a value. */
typedef void (*exif_fn)(const char *name, const char *value, void *user_data);

void exif_read(const uint8_t *data, size_t size, exif_fn each, void *user_data);

/* Adds the description of a colour profile, such as "sRGB IEC61966-2.1"; nothing if it has none. */
void icc_description(const uint8_t *data, size_t size, struct text *text);

#endif
