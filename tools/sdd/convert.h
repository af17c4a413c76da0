/* What a picture is made into. */
#ifndef SDD_TOOL_CONVERT_H
#define SDD_TOOL_CONVERT_H

#include "options.h"

/* Tells whether a picture is wanted just as the server sent it. `wanted`: the format of its file; 0: its own. */
bool is_as_wanted(const struct settings *settings, int32_t wanted, const sdd_image_info *info);

/* Says how a picture is encoded. Animations keep their frames, except as thumbnails and with --still. Returns false if
   the format has room for the first one alone. */
bool fill_encoding(const struct settings *settings, int32_t wanted, const sdd_image_info *info,
                   sdd_encode_options *options);

#endif
