# Writes OUT: the files of ROOT/skeleton and ROOT/math as C strings, one literal a line (codegen/embedded.h).
file(GLOB files "${ROOT}/skeleton/*" "${ROOT}/math/*.h")
list(SORT files)
set(rows "")
foreach(file IN LISTS files)
    cmake_path(GET file FILENAME name)
    file(READ "${file}" text)
    string(REPLACE "\\" "\\\\" text "${text}")
    string(REPLACE "\"" "\\\"" text "${text}")
    string(REPLACE "?" "\\?" text "${text}") # no trigraphs
    string(REPLACE "\n" "\\n\"\n     \"" text "${text}")
    string(APPEND rows "    {\"${name}\",\n     \"${text}\"},\n")
endforeach()
string(CONCAT code "/* Made by codegen/embed.cmake from the files named here. */\n"
                   "#include \"codegen/embedded.h\"\n\n"
                   "const struct krf__embedded krf__embedded[] = {\n${rows}    {0, 0},\n};\n")
file(WRITE "${OUT}" "${code}")
