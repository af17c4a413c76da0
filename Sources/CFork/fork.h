#ifndef SDD_FORK_H
#define SDD_FORK_H

/// How many forks this process is away from the one that loaded the library.
extern unsigned sddfork_generation;

// The lock of once.c, across a fork.
void sddfork_hold_once(void);
void sddfork_let_once_go(void);
void sddfork_renew_once(void);

#endif
