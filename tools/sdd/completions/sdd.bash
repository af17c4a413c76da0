# bash completion of sdd, written by make.py
_sdd() {
    local word=$2 before=$3 command=${COMP_WORDS[1]}
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "get info thumbnail cache bench help --help --version" -- "$word")
        return
    fi
    if [ "$before" = = ]; then before=${COMP_WORDS[COMP_CWORD - 2]}; fi
    if [ "$word" = = ]; then word=; fi
    case $before in
    --fit) mapfile -t COMPREPLY < <(compgen -W "inside fill stretch" -- "$word"); return ;;
    --colour) mapfile -t COMPREPLY < <(compgen -W "srgb stored" -- "$word"); return ;;
    --to) mapfile -t COMPREPLY < <(compgen -W "jpeg png gif webp avif jxl" -- "$word"); return ;;
    --show) mapfile -t COMPREPLY < <(compgen -W "auto kitty iterm sixel blocks none" -- "$word"); return ;;
    --http) mapfile -t COMPREPLY < <(compgen -W "1.0 1.1 2 2-prior-knowledge 3" -- "$word"); return ;;
    --min-tls) mapfile -t COMPREPLY < <(compgen -W "1.0 1.1 1.2 1.3" -- "$word"); return ;;
    --cache) mapfile -t COMPREPLY < <(compgen -W "http any off" -- "$word"); return ;;
    --sort) mapfile -t COMPREPLY < <(compgen -W "name size used stored" -- "$word"); return ;;
    --help) mapfile -t COMPREPLY < <(compgen -W "all" -- "$word"); return ;;
    esac
    case $command in
    get)
        if [[ $word == -* ]]; then
            mapfile -t COMPREPLY < <(compgen -W "--input --output --directory --content-disposition --adjust-extension --force --no-clobber --resume --checksum --any --verify --size --fit --enlarge --colour --to --still --quality --background --progressive --max-output --show --header --user-agent --referer --cookie --cookie-jar --user --bearer --accept-status --accept-type --max-redirects --http --proxy --no-proxy --public-only --allow --cacert --capath --cert --key --pass --insecure --min-tls --ipv4 --ipv6 --interface --unix-socket --resolve --parallel --per-host --wait --limit-rate --tries --retry-delay --connect-timeout --timeout --max-time --max-size --max-pixels --cache --cache-dir --refresh --offline --json --quiet --verbose --no-progress --help" -- "$word")
        else
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
        fi
        ;;
    info)
        if [[ $word == -* ]]; then
            mapfile -t COMPREPLY < <(compgen -W "--show --header --user-agent --referer --cookie --cookie-jar --user --bearer --accept-status --accept-type --max-redirects --http --proxy --no-proxy --public-only --allow --cacert --capath --cert --key --pass --insecure --min-tls --ipv4 --ipv6 --interface --unix-socket --resolve --parallel --per-host --wait --tries --retry-delay --connect-timeout --timeout --max-time --max-size --full --thumbhash --json --quiet --verbose --help" -- "$word")
        else
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
        fi
        ;;
    thumbnail)
        if [[ $word == -* ]]; then
            mapfile -t COMPREPLY < <(compgen -W "--input --output --directory --force --no-clobber --size --fit --enlarge --colour --to --quality --background --progressive --max-output --show --header --user-agent --referer --cookie --cookie-jar --user --bearer --accept-status --accept-type --max-redirects --http --proxy --no-proxy --public-only --allow --cacert --capath --cert --key --pass --insecure --min-tls --ipv4 --ipv6 --interface --unix-socket --resolve --parallel --per-host --wait --limit-rate --tries --retry-delay --connect-timeout --timeout --max-time --max-size --max-pixels --cache --cache-dir --refresh --offline --json --quiet --verbose --no-progress --help" -- "$word")
        else
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
        fi
        ;;
    cache)
        if [[ $word == -* ]]; then
            mapfile -t COMPREPLY < <(compgen -W "--output --force --show --cache-dir --all --dry-run --remove --max-bytes --max-age --sort --json --quiet --help" -- "$word")
        elif [[ " --output -o --cache-dir --max-bytes --max-age --sort " != *" $before "* &&
            ! " ${COMP_WORDS[*]:2:COMP_CWORD-2} " =~ " "(ls|get|rm|trim|stats|verify|merge)" " ]]; then
            mapfile -t COMPREPLY < <(compgen -W "ls get rm trim stats verify merge" -- "$word")
        else
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
        fi
        ;;
    bench)
        if [[ $word == -* ]]; then
            mapfile -t COMPREPLY < <(compgen -W "--header --user-agent --referer --cookie --cookie-jar --user --bearer --accept-status --accept-type --max-redirects --http --proxy --no-proxy --public-only --allow --cacert --capath --cert --key --pass --insecure --min-tls --ipv4 --ipv6 --interface --unix-socket --resolve --parallel --connect-timeout --timeout --max-time --max-size --max-pixels --count --decode --json --quiet --verbose --no-progress --help" -- "$word")
        else
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
        fi
        ;;
    help) mapfile -t COMPREPLY < <(compgen -W "get info thumbnail cache bench" -- "$word") ;;
    esac
}
complete -o filenames -F _sdd sdd
