# Prints a C file line by line without comments and without the text of string literals, so that rules about code can
# be checked with grep. Not in use for files with line continuations inside literals.
{
    out = ""
    line = $0
    while (line != "") {
        if (in_comment) {
            end = index(line, "*/")
            if (!end) break
            line = substr(line, end + 2)
            in_comment = 0
        } else if (match(line, /\/\*|\/\/|"|'/)) {
            out = out substr(line, 1, RSTART - 1)
            found = substr(line, RSTART, RLENGTH)
            line = substr(line, RSTART + RLENGTH)
            if (found == "//") break
            if (found == "/*") {
                in_comment = 1
            } else {
                match(line, found == "\"" ? /^([^"\\]|\\.)*"?/ : /^([^'\\]|\\.)*'?/)
                line = substr(line, RLENGTH + 1)
                out = out found found
            }
        } else {
            out = out line
            break
        }
    }
    print FILENAME ":" FNR ": " out
}
