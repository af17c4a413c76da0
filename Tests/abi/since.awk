# Prints the functions of a header, each with the version after "Since:" in its comment; without it, with that of the
# interface itself.
/^\/\*\*/ { since = "0.4.0" }
{ while (match($0, /Since: [0-9]+\.[0-9]+\.[0-9]+/)) { since = substr($0, RSTART + 7, RLENGTH - 7); break } }
/^SDD_API/ { text = $0; while (text !~ /sdd_[a-z0-9_]+\(/) { getline; text = text " " $0 } match(text, /sdd_[a-z0-9_]+\(/); print substr(text, RSTART, RLENGTH - 1), since }
