/* Pictures that are decoded by processes of their own, in the parent and the child of a fork. */
#include "isolated.h"

CASE(a_child_of_a_fork_has_helpers_of_its_own)
{
    OWNED_DOWNLOADER downloader = isolated_downloader(1);
    fetch_good(downloader);
    int status;
    pid_t child = fork();
    if (child == 0) {
        sdd_downloader *own = isolated_downloader(1);
        fetch_good(own);
        CHECK_EQUAL(helper_count(), 1);
        CHECK_STATUS(sdd_downloader_destroy(downloader), SDD_ERROR_FORKED);
        CHECK_STATUS(sdd_downloader_destroy(own), SDD_OK);
        _exit(helper_count());
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK_EQUAL(status, 0);
    fetch_good(downloader);
    CHECK_EQUAL(helper_count(), 1);
}

int main(void) { return run_cases(); }
