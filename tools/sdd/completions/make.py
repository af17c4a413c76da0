#!/usr/bin/env python3
"""Writes the completions of sdd for bash, zsh and fish from what `sdd COMMAND --help=all` prints.

    tools/sdd/completions/make.py [--check] SDD

With --check, writes nothing, and fails if a file would change.
"""
import pathlib
import re
import subprocess
import sys

FOLDER = pathlib.Path(__file__).parent
COMMANDS = {
    "get": "download pictures to files",
    "info": "print what a picture is",
    "thumbnail": "make small pictures",
    "cache": "look into a cache, and clean it",
    "bench": "measure how fast URLs can be downloaded",
}
CACHE = ["ls", "get", "rm", "trim", "stats", "verify", "merge"]
VALUES = {
    "--fit": "inside fill stretch",
    "--colour": "srgb stored",
    "--to": "jpeg png gif webp avif jxl",
    "--show": "auto kitty iterm sixel blocks none",
    "--http": "1.0 1.1 2 2-prior-knowledge 3",
    "--min-tls": "1.0 1.1 1.2 1.3",
    "--cache": "http any off",
    "--sort": "name size used stored",
    "--help": "all",
}
FILES = {"FILE", "PATH", "NAME"}
OPTION = re.compile(r"^ (?:-(\S), |    )(--[a-z0-9-]+)(\[=(\S+)\])?(?: (\S+))? +(.*)$")


def options(sdd, command):
    """Gives letter, name, argument ("" for none), whether it may be left out, and help of each option."""
    page = subprocess.run([sdd, command, "--help=all"], stdout=subprocess.PIPE, check=True, text=True).stdout
    for line in page.splitlines():
        if found := OPTION.match(line):
            letter, name, optional, inner, argument, text = found.groups()
            if not optional and argument and not re.fullmatch(r"[A-Z0-9:x-]*[A-Z0-9][A-Za-z0-9:-]*", argument):
                argument, text = "", f"{argument} {text}"
            yield letter, name, inner or argument or "", bool(optional), text


def bash(table):
    lines = ["# bash completion of sdd, written by make.py", "_sdd() {", "    local word=$2 before=$3 command=${COMP_WORDS[1]}"]
    lines += ["    COMPREPLY=()", "    if [ \"$COMP_CWORD\" -eq 1 ]; then"]
    lines += [f"        mapfile -t COMPREPLY < <(compgen -W \"{' '.join(COMMANDS)} help --help --version\" -- \"$word\")", "        return", "    fi"]
    lines += ["    if [ \"$before\" = = ]; then before=${COMP_WORDS[COMP_CWORD - 2]}; fi", "    if [ \"$word\" = = ]; then word=; fi", "    case $before in"]
    lines += [f"    {name}) mapfile -t COMPREPLY < <(compgen -W \"{values}\" -- \"$word\"); return ;;"
              for name, values in VALUES.items()]
    lines += ["    esac", "    case $command in"]
    for command, rows in table.items():
        words = " ".join(name for _, name, *_ in rows)
        lines += [f"    {command})", "        if [[ $word == -* ]]; then",
                  f"            mapfile -t COMPREPLY < <(compgen -W \"{words}\" -- \"$word\")"]
        if command == "cache":
            # Options may stand before the command, and some have a word of their own.
            taking = " ".join(f"{name} -{letter}" if letter else name
                              for letter, name, argument, optional, _ in rows if argument and not optional)
            lines += [f"        elif [[ \" {taking} \" != *\" $before \"* &&",
                      f"            ! \" ${{COMP_WORDS[*]:2:COMP_CWORD-2}} \" =~ \" \"({'|'.join(CACHE)})\" \" ]]; then",
                      f"            mapfile -t COMPREPLY < <(compgen -W \"{' '.join(CACHE)}\" -- \"$word\")"]
        lines += ["        else", "            mapfile -t COMPREPLY < <(compgen -f -- \"$word\")", "        fi", "        ;;"]
    lines.append(f"    help) mapfile -t COMPREPLY < <(compgen -W \"{' '.join(COMMANDS)}\" -- \"$word\") ;;")
    return "\n".join(lines + ["    esac", "}", "complete -o filenames -F _sdd sdd", ""])


def zsh(table):
    quote = lambda text: text.replace("'", "").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")  # noqa: E731
    lines = ["#compdef sdd", "# zsh completion of sdd, written by make.py", "_sdd() {", "    local -a commands=("]
    lines += [f"        '{name}:{about}'" for name, about in COMMANDS.items()]
    lines += ["        'help:print the options of a command'", "    )", "    if (( CURRENT == 2 )); then", "        _describe command commands", "        return", "    fi",
              "    local command=$words[2]", "    shift words", "    (( CURRENT-- ))", "    case $command in"]
    for command, rows in table.items():
        lines += [f"    {command})", "        _arguments -s \\"]
        for letter, name, argument, optional, text in rows:
            action = f"({VALUES[name]})" if name in VALUES else "_files" if argument in FILES else "_files -/" if argument == "DIR" else " "
            value = "" if not argument else f"::{argument}:{action}" if optional else f":{argument}:{action}"
            sign = "" if not argument else "=-" if optional else "="
            lines.append(f"            '*{name}{sign}[{quote(text)}]{value}' \\")
            if letter:
                lines.append(f"            '*-{letter}{'+' if argument and not optional else ''}[{quote(text)}]{'' if optional else value}' \\")
        lines.append(f"            '1:command:({' '.join(CACHE)})' '*:file:_files'" if command == "cache" else "            '*:file:_files'")
        lines.append("        ;;")
    lines += ["    help) _arguments \\", f"            '1:command:({' '.join(COMMANDS)})'", "        ;;"]
    return "\n".join(lines + ["    esac", "}", "_sdd \"$@\"", ""])


def fish(table):
    quote = lambda text: text.replace("\\", "\\\\").replace("'", "\\'")  # noqa: E731
    lines = ["# fish completion of sdd, written by make.py", "complete -c sdd -n __fish_use_subcommand -f -l help -d 'print the commands'",
             "complete -c sdd -n __fish_use_subcommand -f -l version -d 'print the versions'"]
    lines += [f"complete -c sdd -n __fish_use_subcommand -f -a {name} -d '{about}'" for name, about in COMMANDS.items()]
    lines.append("complete -c sdd -n __fish_use_subcommand -f -a help -d 'print the options of a command'")
    lines.append(f"complete -c sdd -n '__fish_seen_subcommand_from help' -f -a '{' '.join(COMMANDS)}'")
    lines.append(f"complete -c sdd -n '__fish_seen_subcommand_from cache' -f -a '{' '.join(CACHE)}'")
    for command, rows in table.items():
        for letter, name, argument, optional, text in rows:
            parts = [f"complete -c sdd -n '__fish_seen_subcommand_from {command}' -l {name[2:]}"]
            if letter:
                parts.append(f"-s {letter}")
            if name in VALUES:
                parts.append(f"-f -a '{VALUES[name]}'" if optional else f"-x -a '{VALUES[name]}'")
            elif argument:
                parts.append("-r" if argument in FILES | {"DIR"} else "-x")
            lines.append(" ".join(parts + [f"-d '{quote(text)}'"]))
    return "\n".join(lines + [""])


def main():
    check, sdd = sys.argv[1] == "--check", sys.argv[-1]
    table = {command: list(options(sdd, command)) for command in COMMANDS}
    wrong = 0
    for name, text in (("sdd.bash", bash(table)), ("_sdd", zsh(table)), ("sdd.fish", fish(table))):
        path = FOLDER / name
        if not check:
            path.write_text(text, encoding="utf-8")
        elif path.read_text(encoding="utf-8") != text:
            wrong += 1
            print(f"{path} is not what make.py writes: run it", file=sys.stderr)
    sys.exit(wrong > 0)


main()
