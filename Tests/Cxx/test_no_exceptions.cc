// The interface with -fno-exceptions: results, callbacks, pendings; value() of an error ends the process.
#include "check.hpp"

#include <sys/wait.h>

#if SDD_CPP_EXCEPTIONS
#error "run.sh builds this program with -fno-exceptions"
#endif

namespace {

CASE(requests_work)
{
    auto made = sdd::downloader::create();
    CHECK(made.has_value());
    sdd::downloader downloader = std::move(made).value();
    int facts = 0;
    sdd::download_request request;
    request.url = jpeg_url();
    request.on_facts = [&](const sdd::image_info &what) { facts = what.stored_width; };
    const auto loaded = downloader.download(request).get();
    CHECK(loaded && loaded->image.width() == 37 && facts == 37);
    const auto missing = downloader.download(url_of("/status/404")).future().get();
    CHECK(!missing && missing.error().http_status() == 404);
    sdd::modifier_functions functions;
    functions.request = [](sdd::draft &draft) { return draft.url().empty(); };
    request.transfer.modifiers = sdd::modifiers(functions);
    CHECK_EQUAL(downloader.download(request).get().error().detail(), SDD_DETAIL_OPERATION_MODIFIER);
}

CASE(a_value_that_is_missing_ends_the_process)
{
    const sdd::result<int> none = sdd::error(SDD_ERROR_NOT_FOUND, "expected here");
    fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        fclose(stderr);
        (void)none.value();
        _exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

} // namespace

int main() { return run_cases(); }
