// The C functions that liblotus.so interposes: one row each. The library's exports are made from these rows,
// and nothing else is exported. No header may be included here.

// clang-format off

// What is counted of libc. H(name)
#define LOTUS_FILE_HOOKS(H) H(open) H(openat) H(fopen) H(read) H(pread) H(readv) H(preadv) H(fread) H(mmap)

// S(symbol, hook, rule): a libc function, what it counts as, and the rule that knows its arguments; see
// files.cpp. Names that end in _chk and _2 are what _FORTIFY_SOURCE makes of the others.
#define LOTUS_FILE_SYMBOLS(S)                                                                            \
  S(open, open, path_first)                                                                              \
  S(open64, open, path_first) S(__open_2, open, path_first) S(__open64_2, open, path_first)              \
      S(openat, openat, path_second) S(openat64, openat, path_second) S(__openat_2, openat, path_second) \
          S(__openat64_2, openat, path_second) S(fopen, fopen, stream) S(fopen64, fopen, stream)         \
              S(read, read, bytes) S(__read_chk, read, bytes) S(pread, pread, bytes)                     \
                  S(pread64, pread, bytes) S(__pread_chk, pread, bytes) S(__pread64_chk, pread, bytes)   \
                      S(readv, readv, bytes) S(preadv, preadv, bytes) S(preadv64, preadv, bytes)         \
                          S(preadv2, preadv, bytes) S(preadv64v2, preadv, bytes) S(fread, fread, items)  \
                              S(fread_unlocked, fread, items) S(__fread_chk, fread, items_checked)       \
                                  S(__fread_unlocked_chk, fread, items_checked) S(mmap, mmap, mapped)    \
                                      S(mmap64, mmap, mapped)

// S(symbol, rule): functions of libjpeg with a j_decompress_ptr first and at most three arguments. `begins`:
// the first one that is called for an image. `each`: each call is timed. `repeats`: calls come line by line and
// are timed in groups.
#define LOTUS_JPEG_SYMBOLS(S)                                                                              \
  S(jpeg_read_header, begins)                                                                              \
  S(jpeg_start_decompress, each) S(jpeg_read_coefficients, each) S(jpeg_read_scanlines, repeats)           \
      S(jpeg_read_raw_data, each) S(jpeg_crop_scanline, each) S(jpeg_skip_scanlines, each)                 \
          S(jpeg_finish_decompress, each) S(jpeg12_read_scanlines, each) S(jpeg16_read_scanlines, each)    \
              S(jpeg12_read_raw_data, each) S(jpeg12_crop_scanline, each) S(jpeg12_skip_scanlines, each)

// S(symbol): functions of TurboJPEG with at most nine arguments.
#define LOTUS_TURBOJPEG_SYMBOLS(S)                                                                         \
  S(tjDecompressHeader) S(tjDecompressHeader2) S(tjDecompressHeader3) S(tjDecompress) S(tjDecompress2)     \
  S(tjDecompressToYUV) S(tjDecompressToYUV2) S(tjDecompressToYUVPlanes)                                    \
  S(tj3DecompressHeader) S(tj3Decompress8) S(tj3Decompress12) S(tj3Decompress16)                           \
  S(tj3DecompressToYUV8) S(tj3DecompressToYUVPlanes8)

// S(symbol, rule): what libc's functions for signals are given; see program_signals.cpp.
#define LOTUS_SIGNAL_SYMBOLS(S)                                                                            \
  S(sigaction, action) S(__sigaction, action)                                                              \
  S(signal, handler) S(bsd_signal, handler) S(sysv_signal, handler) S(__sysv_signal, handler)              \
  S(sigset, handler) S(sigignore, handler) S(siginterrupt, handler)                                        \
  S(sigwait, wait_number) S(sigwaitinfo, wait_info) S(sigtimedwait, wait_time)                             \
  S(sigpending, pending) S(sigaltstack, alternate) S(signalfd, descriptor)                      \
  S(sigsuspend, masked<0>) S(__sigsuspend, masked<0>) S(ppoll, masked<3>) S(__ppoll_chk, masked<3>)        \
  S(pselect, masked<5>) S(epoll_pwait, masked<4>) S(epoll_pwait2, masked<4>)

// S(symbol): what ends a process, and what replaces its program, with at most five arguments; see life/exits.cpp.
#define LOTUS_EXIT_SYMBOLS(S) S(_exit) S(_Exit)
#define LOTUS_EXEC_SYMBOLS(S) S(execv) S(execve) S(execvp) S(execvpe) S(fexecve) S(execveat)

// S(symbol): what starts a thread; see threads.cpp.
#define LOTUS_THREAD_SYMBOLS(S) S(pthread_create)
// clang-format on
