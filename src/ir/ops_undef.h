/* Forgets the row macros of ops.def, so that the next file to expand it defines its own. */
#undef NODE
#undef OP
#undef JOIN
#undef HIDDEN
#undef USER
#undef FOLD
#undef CODE
#undef CUDA
#undef GRAD
#undef REDUCE
#undef SCAN
#undef COMBINE
#undef ALIAS
