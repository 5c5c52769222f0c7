// What only kernels on a GPU need. Sections as in prelude.h; inline PTX stands here and nowhere else, each time with a
// twin for the host's compiler, which compiles kernels for the simulated GPU (tests/fakecuda).

//@ krf_opaque_f32
// Hides a value from constant folding: a compiler rounds functions of constants otherwise than the device does.
KRF_FN float krf_opaque_f32(float x) {
#ifdef __CUDACC__
    asm("" : "+f"(x));
    return x;
#else
    volatile float hidden = x;
    return hidden;
#endif
}

//@ krf_opaque_f64
KRF_FN double krf_opaque_f64(double x) {
#ifdef __CUDACC__
    asm("" : "+d"(x));
    return x;
#else
    volatile double hidden = x;
    return hidden;
#endif
}
