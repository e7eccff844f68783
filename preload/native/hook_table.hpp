// The C functions that liblotus.so interposes: one row each. The library's exports are made from these rows,
// and nothing else is exported. No header may be included here.
//
// H(symbol, library, arguments, rule): the name of the function, the library that has the real one, how many
// integers and pointers it takes, and what is done for it: a type of the file that interposes the family, see
// interposed.hpp. Names of libc that end in _chk and _2 are what _FORTIFY_SOURCE makes of the others.
#pragma once

// clang-format off

// What is counted of libc. C(name)
#define LOTUS_COUNTED(C) C(open) C(openat) C(fopen) C(read) C(pread) C(readv) C(preadv) C(fread) C(mmap)

// What waits, beside those, and is recorded where it does so for long. C(name)
#define LOTUS_WAITING(C) \
  C(write) C(fsync) C(fdatasync) C(flock) C(lockf) C(fcntl) C(recv) C(recvfrom) C(recvmsg) C(send) C(sendto)  \
  C(sendmsg) C(connect) C(accept) C(accept4) C(getaddrinfo) C(poll) C(ppoll) C(select) C(pselect)             \
  C(epoll_wait) C(epoll_pwait) C(wait) C(wait3) C(wait4) C(waitpid) C(waitid) C(nanosleep) C(clock_nanosleep) \
  C(usleep) C(sleep) C(sem_wait) C(sem_timedwait) C(sem_clockwait) C(pthread_cond_wait)                       \
  C(pthread_cond_timedwait) C(pthread_cond_clockwait) C(pthread_join)

// Files; files.cpp. The rule knows where a function's arguments are.
#define LOTUS_FILE_HOOKS(H) \
  H(open, libc, 3, path_first<counted_open>)                     \
  H(open64, libc, 3, path_first<counted_open>)                   \
  H(__open_2, libc, 2, path_first<counted_open>)                 \
  H(__open64_2, libc, 2, path_first<counted_open>)               \
  H(openat, libc, 4, path_second<counted_openat>)                \
  H(openat64, libc, 4, path_second<counted_openat>)              \
  H(__openat_2, libc, 3, path_second<counted_openat>)            \
  H(__openat64_2, libc, 3, path_second<counted_openat>)          \
  H(fopen, libc, 2, stream<counted_fopen>)                       \
  H(fopen64, libc, 2, stream<counted_fopen>)                     \
  H(read, libc, 3, bytes<counted_read>)                          \
  H(__read_chk, libc, 4, bytes<counted_read>)                    \
  H(pread, libc, 4, bytes<counted_pread>)                        \
  H(pread64, libc, 4, bytes<counted_pread>)                      \
  H(__pread_chk, libc, 5, bytes<counted_pread>)                  \
  H(__pread64_chk, libc, 5, bytes<counted_pread>)                \
  H(readv, libc, 3, bytes<counted_readv>)                        \
  H(preadv, libc, 4, bytes<counted_preadv>)                      \
  H(preadv64, libc, 4, bytes<counted_preadv>)                    \
  H(preadv2, libc, 5, bytes<counted_preadv>)                     \
  H(preadv64v2, libc, 5, bytes<counted_preadv>)                  \
  H(fread, libc, 4, items<counted_fread>)                        \
  H(fread_unlocked, libc, 4, items<counted_fread>)               \
  H(__fread_chk, libc, 5, items_checked<counted_fread>)          \
  H(__fread_unlocked_chk, libc, 5, items_checked<counted_fread>) \
  H(mmap, libc, 6, mapped<counted_mmap>)                         \
  H(mmap64, libc, 6, mapped<counted_mmap>)

// What is told the program of signals; program_signals.cpp.
#define LOTUS_SIGNAL_HOOKS(H) \
  H(sigaction, libc, 3, action)       \
  H(__sigaction, libc, 3, action)     \
  H(signal, libc, 2, handler)         \
  H(bsd_signal, libc, 2, handler)     \
  H(sysv_signal, libc, 2, handler)    \
  H(__sysv_signal, libc, 2, handler)  \
  H(sigset, libc, 2, handler)         \
  H(sigignore, libc, 1, handler)      \
  H(siginterrupt, libc, 2, handler)   \
  H(sigwait, libc, 2, wait_number)    \
  H(sigwaitinfo, libc, 2, wait_info)  \
  H(sigtimedwait, libc, 3, wait_time) \
  H(sigpending, libc, 1, pending)     \
  H(sigaltstack, libc, 2, alternate)  \
  H(signalfd, libc, 3, descriptor)    \
  H(sigsuspend, libc, 1, masked<0, counted_nothing>)      \
  H(__sigsuspend, libc, 1, masked<0, counted_nothing>)    \
  H(ppoll, libc, 4, masked<3, counted_ppoll>)             \
  H(__ppoll_chk, libc, 5, masked<3, counted_ppoll>)       \
  H(pselect, libc, 6, masked<5, counted_pselect>)         \
  H(epoll_pwait, libc, 5, masked<4, counted_epoll_pwait>) \
  H(epoll_pwait2, libc, 5, masked<4, counted_epoll_pwait>)

// What starts a thread; threads.cpp.
#define LOTUS_THREAD_HOOKS(H) \
  H(pthread_create, libc, 4, begins_thread)

// How a thread of Python waits for the interpreter's lock; interpreter_lock.cpp.
#define LOTUS_WAIT_HOOKS(H) \
  H(pthread_cond_timedwait, libc_2_3_2, 3, waits)

// What waits; waiting.cpp. Those that return -1 when they fail, those that return the error itself, and those
// that move bytes: so many as the third argument says.
#define LOTUS_BLOCKING_HOOKS(H) \
  H(write, libc, 3, moves<counted_write>)                             \
  H(recv, libc, 4, moves<counted_recv>)                               \
  H(recvfrom, libc, 6, moves<counted_recvfrom>)                       \
  H(send, libc, 4, moves<counted_send>)                               \
  H(sendto, libc, 6, moves<counted_sendto>)                           \
  H(recvmsg, libc, 3, blocks<counted_recvmsg>)                        \
  H(sendmsg, libc, 3, blocks<counted_sendmsg>)                        \
  H(fsync, libc, 1, blocks<counted_fsync>)                            \
  H(fdatasync, libc, 1, blocks<counted_fdatasync>)                    \
  H(flock, libc, 2, blocks<counted_flock>)                            \
  H(lockf, libc, 3, blocks<counted_lockf>)                            \
  H(lockf64, libc, 3, blocks<counted_lockf>)                          \
  H(fcntl, libc, 3, blocks<counted_fcntl>)                            \
  H(fcntl64, libc, 3, blocks<counted_fcntl>)                          \
  H(connect, libc, 3, blocks<counted_connect>)                        \
  H(accept, libc, 3, blocks<counted_accept>)                          \
  H(accept4, libc, 4, blocks<counted_accept4>)                        \
  H(getaddrinfo, libc, 4, fails_with<EAI_SYSTEM, counted_getaddrinfo>) \
  H(poll, libc, 3, blocks<counted_poll>)                              \
  H(__poll_chk, libc, 4, blocks<counted_poll>)                        \
  H(select, libc, 5, blocks<counted_select>)                          \
  H(epoll_wait, libc, 4, blocks<counted_epoll_wait>)                  \
  H(wait, libc, 1, blocks<counted_wait>)                              \
  H(wait3, libc, 3, blocks<counted_wait3>)                            \
  H(wait4, libc, 4, blocks<counted_wait4>)                            \
  H(waitpid, libc, 3, blocks<counted_waitpid>)                        \
  H(waitid, libc, 4, blocks<counted_waitid>)                          \
  H(nanosleep, libc, 2, blocks<counted_nanosleep>)                    \
  H(clock_nanosleep, libc, 4, fails_with<ENOSYS, counted_clock_nanosleep>) \
  H(usleep, libc, 1, blocks<counted_usleep>)                          \
  H(sleep, libc, 1, fails_with<0, counted_sleep>)                     \
  H(sem_wait, libc, 1, blocks<counted_sem_wait>)                      \
  H(sem_timedwait, libc, 2, blocks<counted_sem_timedwait>)            \
  H(sem_clockwait, libc, 3, blocks<counted_sem_clockwait>)            \
  H(pthread_cond_wait, libc_2_3_2, 2, fails_with<ENOSYS, counted_pthread_cond_wait>) \
  H(pthread_cond_clockwait, libc, 4, fails_with<ENOSYS, counted_pthread_cond_clockwait>) \
  H(pthread_join, libc, 2, fails_with<ENOSYS, counted_pthread_join>)

// What ends a process, and what replaces its program; life/exits.cpp.
#define LOTUS_EXIT_HOOKS(H) \
  H(_exit, libc, 1, ends_process)        \
  H(_Exit, libc, 1, ends_process)        \
  H(execv, libc, 2, replaces_program)    \
  H(execve, libc, 3, replaces_program)   \
  H(execvp, libc, 2, replaces_program)   \
  H(execvpe, libc, 3, replaces_program)  \
  H(fexecve, libc, 3, replaces_program)  \
  H(execveat, libc, 5, replaces_program)

// By which an interpreter is noticed that is loaded later; life/arrival.cpp.
#define LOTUS_LOCALE_HOOKS(H) \
  H(setlocale, libc, 2, names_locale)

// libjpeg, functions with a j_decompress_ptr first; jpeg.cpp. `begins`: the first one that is called for an image. `each`:
// each call is timed. `repeats`: calls come line by line and are timed in groups.
#define LOTUS_JPEG_HOOKS(H) \
  H(jpeg_read_header, libjpeg, 2, begins)     \
  H(jpeg_start_decompress, libjpeg, 1, each)  \
  H(jpeg_read_coefficients, libjpeg, 1, each) \
  H(jpeg_read_scanlines, libjpeg, 3, repeats) \
  H(jpeg_read_raw_data, libjpeg, 3, each)     \
  H(jpeg_crop_scanline, libjpeg, 3, each)     \
  H(jpeg_skip_scanlines, libjpeg, 2, each)    \
  H(jpeg_finish_decompress, libjpeg, 1, each) \
  H(jpeg12_read_scanlines, libjpeg, 3, each)  \
  H(jpeg16_read_scanlines, libjpeg, 3, each)  \
  H(jpeg12_read_raw_data, libjpeg, 3, each)   \
  H(jpeg12_crop_scanline, libjpeg, 3, each)   \
  H(jpeg12_skip_scanlines, libjpeg, 2, each)

// TurboJPEG; turbojpeg.cpp. Each call is timed, as `timed_each` of bindings.hpp does it.
#define LOTUS_TURBOJPEG_HOOKS(H) \
  H(tjDecompressHeader, libturbojpeg, 5, decompresses)        \
  H(tjDecompressHeader2, libturbojpeg, 6, decompresses)       \
  H(tjDecompressHeader3, libturbojpeg, 7, decompresses)       \
  H(tjDecompress, libturbojpeg, 9, decompresses)              \
  H(tjDecompress2, libturbojpeg, 9, decompresses)             \
  H(tjDecompressToYUV, libturbojpeg, 5, decompresses)         \
  H(tjDecompressToYUV2, libturbojpeg, 8, decompresses)        \
  H(tjDecompressToYUVPlanes, libturbojpeg, 8, decompresses)   \
  H(tj3DecompressHeader, libturbojpeg, 3, decompresses)       \
  H(tj3Decompress8, libturbojpeg, 6, decompresses)            \
  H(tj3Decompress12, libturbojpeg, 6, decompresses)           \
  H(tj3Decompress16, libturbojpeg, 6, decompresses)           \
  H(tj3DecompressToYUV8, libturbojpeg, 5, decompresses)       \
  H(tj3DecompressToYUVPlanes8, libturbojpeg, 5, decompresses)

// libwebp; webp.cpp. Each call is timed, likewise.
#define LOTUS_WEBP_HOOKS(H) \
  H(WebPDecode, libwebp, 3, decodes)

// libc10, PyTorch's CPU allocator; operators/allocations.cpp: c10::alloc_cpu(size_t), c10::free_cpu(void*).
#define LOTUS_TORCH_HOOKS(H) \
  H(_ZN3c109alloc_cpuEm, libc10, 1, allocates) \
  H(_ZN3c108free_cpuEPv, libc10, 1, releases)

// All of them.
#define LOTUS_HOOKS(H)                                                   \
  LOTUS_FILE_HOOKS(H) LOTUS_SIGNAL_HOOKS(H) LOTUS_THREAD_HOOKS(H)        \
  LOTUS_WAIT_HOOKS(H) LOTUS_BLOCKING_HOOKS(H) LOTUS_LOCALE_HOOKS(H)      \
  LOTUS_EXIT_HOOKS(H) LOTUS_JPEG_HOOKS(H) LOTUS_TURBOJPEG_HOOKS(H)       \
  LOTUS_WEBP_HOOKS(H) LOTUS_TORCH_HOOKS(H)
// clang-format on
