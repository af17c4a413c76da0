// What a fork does to the library, as far as it must not be Swift's: see fork.c.
#ifndef SDD_CFORK_H
#define SDD_CFORK_H

/// What is to be done before a fork, and after it in the parent and in the child.
struct sddfork_handlers {
    void (*before)(void);
    void (*in_parent)(void);
    void (*in_child)(void);
};

/// What is done once in a process.
enum sddfork_work { SDDFORK_FIRST_USE, SDDFORK_FIRST_DOWNLOADER, SDDFORK_WORK_COUNT };

/// Does `work`, once in a process. Whoever asks meanwhile waits, and so does a fork. Costs one read of memory when it has
/// been done. Any thread; not in `work`.
void sddfork_once(enum sddfork_work which, void (*work)(void));

/// To be called in `work`: from now on these are called at each fork.
void sddfork_set_handlers(struct sddfork_handlers handlers);

#endif
