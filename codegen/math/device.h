// What only kernels on a GPU need. Sections as in prelude.h; inline PTX stands here and nowhere else.

//@ krf_opaque_f32
// Hides a value from constant folding: a compiler rounds functions of constants otherwise than the device does.
KRF_FN float krf_opaque_f32(float x) {
    asm("" : "+f"(x));
    return x;
}

//@ krf_opaque_f64
KRF_FN double krf_opaque_f64(double x) {
    asm("" : "+d"(x));
    return x;
}
