// The compiler's functions that the files for C call and NVRTC lacks, by CUDA's of the same meaning: with them CUDA takes functions from those files
// as they are. Each is exact, so the bits are the CPU's. Sections as in prelude.h; for CUDA only.

//@ __builtin_memcpy
#ifdef __CUDACC__
KRF_FN void __builtin_memcpy(void *to, const void *from, unsigned long long n) { memcpy(to, from, n); }
#endif

//@ __builtin_fma
#ifdef __CUDACC__
KRF_FN double __builtin_fma(double a, double b, double c) { return fma(a, b, c); }
#endif

//@ __builtin_fabs
#ifdef __CUDACC__
KRF_FN double __builtin_fabs(double x) { return fabs(x); }
#endif

//@ __builtin_floor
#ifdef __CUDACC__
KRF_FN double __builtin_floor(double x) { return floor(x); }
#endif

//@ __builtin_rint
#ifdef __CUDACC__
KRF_FN double __builtin_rint(double x) { return rint(x); }
#endif

//@ __builtin_sqrt
#ifdef __CUDACC__
KRF_FN double __builtin_sqrt(double x) { return sqrt(x); }
#endif

//@ __builtin_rintf
#ifdef __CUDACC__
KRF_FN float __builtin_rintf(float x) { return rintf(x); }
#endif

//@ __builtin_fmaf
#ifdef __CUDACC__
KRF_FN float __builtin_fmaf(float a, float b, float c) { return fmaf(a, b, c); }
#endif

//@ __builtin_fabsf
#ifdef __CUDACC__
KRF_FN float __builtin_fabsf(float x) { return fabsf(x); }
#endif
