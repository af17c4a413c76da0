/* Prints the version, and makes a downloader, for which the library needs libcurl. */
#include <sdd/sdd.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    sdd_downloader *downloader = NULL;
    if (sdd_downloader_create(NULL, &downloader) != SDD_OK) {
        fprintf(stderr, "%s\n", sdd_last_error_message());
        return 1;
    }
    sdd_downloader_destroy(downloader);
    printf("header %s, library %s\n", SDD_VERSION_STRING, sdd_version_string());
    return strcmp(SDD_VERSION_STRING, sdd_version_string()) != 0;
}
