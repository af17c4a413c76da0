#ifndef SDD_FORK_H
#define SDD_FORK_H

/// Number of forks between the process that loaded the library and this one.
extern unsigned sddfork_generation;

// Take, release and renew the locks of runtime.c around a fork. No other lock is taken while they are held.
void sddfork_hold_runtime(void);
void sddfork_let_runtime_go(void);
void sddfork_renew_runtime(void);

#endif
