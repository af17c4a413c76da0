/* The path of a job's file, and the file that an earlier run has left there. */
#ifndef SDD_TOOL_PATHS_H
#define SDD_TOOL_PATHS_H

#include "job.h"

/* Makes the path of a job's file. `format`: that of the file, 0 if it is unknown; `converted`: it is not the picture's. */
void make_path(const struct job *job, int32_t format, bool converted, struct file_path *path);

/* Takes the number that the name of a job gets, if the name is known before the download. */
void claim_name(struct job *job);

/* Tells whether the file of a job was there before this run: under the name that the job has claimed, or, if only the
   picture says its extension, with that of any format, unless another job has claimed that name. */
bool file_exists(const struct job *job, struct text *found);

#endif
