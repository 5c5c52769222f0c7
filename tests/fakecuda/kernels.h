/* From CUDA C++ to what the host's compiler gets, and from its messages to those of NVRTC. All results are freed by the
 * caller. */
#ifndef FAKECUDA_KERNELS_H
#define FAKECUDA_KERNELS_H

#define FAKE_CLUSTER "__cluster_dims__"

/* The source under its file's name, and the table of its kernels behind it. */
char *fake_wrap(const char *source, const char *file);

/* "k.cu:1:5: error: ..." becomes "k.cu(1): error: ..."; lines that are no messages are left out. */
char *fake_messages(const char *messages);

/* Assembly as PTX: with its entry points, between the lines that mark it. */
char *fake_ptx(const char *source, unsigned arch, const char *assembly);

#endif
