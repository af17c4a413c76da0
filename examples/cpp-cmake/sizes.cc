// sizes: prints the size of each picture. All are loaded at the same time, and printed in the order of the URLs.
//
//     sizes URL...
//
// Exit status 0: each URL ended with a picture.
#include <sdd/sdd.hpp>

#include <iostream>
#include <vector>

int main(int argc, char **argv)
{
    sdd::loader loader = sdd::loader::shared();
    std::vector<sdd::pending<sdd::loaded>> loads;
    for (int i = 1; i < argc; i++) loads.push_back(loader.load(argv[i]));

    bool is_complete = argc > 1;
    for (int i = 1; i < argc; i++) {
        const auto loaded = loads[static_cast<std::size_t>(i - 1)].get();
        if (loaded)
            std::cout << argv[i] << ": " << loaded->image.width() << " x " << loaded->image.height() << '\n';
        else
            std::cout << argv[i] << ": " << loaded.error().what() << '\n';
        is_complete = is_complete && loaded;
    }
    return is_complete ? 0 : 1;
}
