# Sourced by the scripts of which a run makes a share: TURN and SHARES in the Makefile.

share_of() { # share_of K/N NAME...: prints every Nth name, beginning with number K modulo N
    local step=${1#*/} i
    for ((i = ${1%/*} % step + 2; i <= $#; i += step)); do echo "${!i}"; done
}
