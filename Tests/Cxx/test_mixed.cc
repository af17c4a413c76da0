// One program of parts in C++17 and C++20, with and without exceptions: each has the functions that it was built with.
#include "check.hpp"

int width_without_exceptions(sdd_downloader *downloader, const char *url);

namespace {

CASE(both_parts_work)
{
    sdd::downloader downloader;
    CHECK_EQUAL(width_without_exceptions(downloader.get(), png_url().c_str()), 19);
    CHECK_EQUAL(width_without_exceptions(downloader.get(), url_of("/status/404").c_str()), 0);
    CHECK_EQUAL(downloader.download(png_url()).get().value().image.width(), 19);
    // The other part's value() would end the process.
    CHECK_RAISES(SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE,
                 (void)downloader.download(url_of("/status/404")).get().value());
}

} // namespace

int main() { return run_cases(); }
