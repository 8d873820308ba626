#define _GNU_SOURCE
#include "disk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// The kernel is called directly: there is no C library to look up, and no order of loading to mind.

enum { most_files = 1024 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char watched[PATH_MAX];
static size_t watched_length;
static enum disk_fault fault;
static enum disk_call struck;
static int64_t first, repeats, calls, of_kind, done;
static int log_file = -1;
static struct {
  int number;  // 0: not watched
  int is_folder;
} files[most_files];
static int next_number = 1;

void disk_set(const char* folder, enum disk_fault what, enum disk_call call, int64_t at,
              int64_t times) {
  pthread_mutex_lock(&mutex);
  watched_length = strlen(folder) < PATH_MAX ? strlen(folder) : 0;
  memcpy(watched, folder, watched_length);
  fault = what;
  struck = call;
  first = at;
  repeats = times;
  calls = of_kind = done = 0;
  pthread_mutex_unlock(&mutex);
}

int64_t disk_calls(void) { return calls; }
int64_t disk_faults(void) { return done; }

void disk_record(const char* log) {
  log_file =
      (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (log_file < 0) abort();
}

static void put(const void* data, int64_t bytes) {
  const char* from = data;
  while (bytes > 0) {
    const long count = syscall(SYS_write, log_file, from, bytes);
    if (count <= 0) abort();
    from += count;
    bytes -= count;
  }
}

static void record(enum disk_call call, int file, int64_t offset, const char* name,
                   const char* other, const void* data, int64_t bytes) {
  if (log_file < 0) return;
  const struct disk_entry entry = {
      call, file, offset, name ? (int64_t)strlen(name) : 0, other ? (int64_t)strlen(other) : 0,
      bytes};
  put(&entry, sizeof entry);
  put(name, entry.name);
  put(other, entry.other);
  put(data, bytes);
}

void disk_note(int64_t number) {
  pthread_mutex_lock(&mutex);
  record(disk_any, -1, number, NULL, NULL, NULL, 0);
  pthread_mutex_unlock(&mutex);
}

static int is_watched(const char* path) {
  return watched_length > 0 && strncmp(path, watched, watched_length) == 0 &&
         (path[watched_length] == '/' || path[watched_length] == '\0');
}

static int number_of(int file) { return file >= 0 && file < most_files ? files[file].number : 0; }

static void die(void) {
  syscall(SYS_kill, getpid(), SIGKILL);
  for (;;) pause();
}

/// What hits this call. The mutex is held.
static enum disk_fault next_fault(enum disk_call call) {
  const int meant = struck == disk_every || struck == call ||
                    (struck == disk_any && call <= disk_make_folder);
  if (struck == disk_every || call <= disk_make_folder) ++calls;
  if (meant) ++of_kind;
  const int hit = fault != disk_well && meant && of_kind >= first &&
                  (repeats == 0 || of_kind < first + repeats);
  if (!hit) return disk_well;
  ++done;
  if (fault == disk_kill || (fault == disk_tear && call != disk_write)) die();
  if (call != disk_write && (fault == disk_short || fault == disk_tear)) return disk_well;
  const int takes_room = call != disk_sync && call != disk_remove && call != disk_open &&
                         call != disk_read && call != disk_lock;
  if (fault == disk_no_space && !takes_room) return disk_well;
  return fault;
}

static int error_of(enum disk_fault what) {
  return what == disk_no_space ? ENOSPC : what == disk_interrupt ? EINTR : EIO;
}

/// Ends a call: its result as the C library says it.
static long ended(long result, int locked) {
  if (locked) pthread_mutex_unlock(&mutex);
  return result;
}

static long failed(enum disk_fault what) {
  pthread_mutex_unlock(&mutex);
  errno = error_of(what);
  return -1;
}

static long written(int file, const void* data, size_t bytes, off_t offset) {
  const int at_place = offset >= 0;
  if (!number_of(file))
    return at_place ? syscall(SYS_pwrite64, file, data, bytes, offset)
                    : syscall(SYS_write, file, data, bytes);
  pthread_mutex_lock(&mutex);
  const enum disk_fault what = next_fault(disk_write);
  if (!at_place) offset = syscall(SYS_lseek, file, 0, SEEK_CUR);
  size_t room = bytes;
  if (what == disk_short || what == disk_tear || (what == disk_no_space && bytes >= 8192))
    room = bytes > 1 ? bytes / 2 : 1;
  else if (what != disk_well)
    return failed(what);
  const long count = syscall(SYS_pwrite64, file, data, room, offset);
  if (what == disk_tear) die();
  if (count > 0) record(disk_write, number_of(file), offset, NULL, NULL, data, count);
  if (count > 0 && !at_place) syscall(SYS_lseek, file, offset + count, SEEK_SET);
  return ended(count, 1);
}

ssize_t write(int file, const void* data, size_t bytes) { return written(file, data, bytes, -1); }
ssize_t pwrite(int file, const void* data, size_t bytes, off_t offset) {
  return written(file, data, bytes, offset);
}
ssize_t pwrite64(int file, const void* data, size_t bytes, off_t offset) {
  return written(file, data, bytes, offset);
}

static ssize_t taken(int file, void* into, size_t bytes, off_t offset) {
  if (number_of(file)) {
    pthread_mutex_lock(&mutex);
    const enum disk_fault what = next_fault(disk_read);
    if (what == disk_io_error || what == disk_interrupt) return failed(what);
    if (what == disk_short && bytes > 1) bytes /= 2;
    pthread_mutex_unlock(&mutex);
  }
  return offset >= 0 ? syscall(SYS_pread64, file, into, bytes, offset)
                     : syscall(SYS_read, file, into, bytes);
}

ssize_t read(int file, void* into, size_t bytes) { return taken(file, into, bytes, -1); }
ssize_t pread(int file, void* into, size_t bytes, off_t offset) {
  return taken(file, into, bytes, offset);
}
ssize_t pread64(int file, void* into, size_t bytes, off_t offset) {
  return taken(file, into, bytes, offset);
}

int flock(int file, int operation) {
  if (number_of(file)) {
    pthread_mutex_lock(&mutex);
    const enum disk_fault what = next_fault(disk_lock);
    if (what == disk_io_error || what == disk_interrupt) return (int)failed(what);
    pthread_mutex_unlock(&mutex);  // it may wait for another thread
  }
  return (int)syscall(SYS_flock, file, operation);
}

/// A hole is zeros; what takes room changes nothing that can be read.
static int allocated(int file, int mode, off_t offset, off_t bytes) {
  if (!number_of(file)) return (int)syscall(SYS_fallocate, file, mode, offset, bytes);
  pthread_mutex_lock(&mutex);
  const enum disk_fault what = next_fault(disk_room);
  if (what != disk_well) return (int)failed(what);
  const int result = (int)syscall(SYS_fallocate, file, mode, offset, bytes);
  if (result == 0 && (mode & FALLOC_FL_PUNCH_HOLE) != 0 && log_file >= 0) {
    static const char zeros[65536];
    for (off_t at = 0; at < bytes; at += (off_t)sizeof zeros) {
      const off_t left = bytes - at;
      record(disk_write, number_of(file), offset + at, NULL, NULL, zeros,
             left < (off_t)sizeof zeros ? left : (off_t)sizeof zeros);
    }
  }
  return (int)ended(result, 1);
}
int fallocate(int file, int mode, off_t offset, off_t bytes) {
  return allocated(file, mode, offset, bytes);
}
int fallocate64(int file, int mode, off_t offset, off_t bytes) {
  return allocated(file, mode, offset, bytes);
}

static int synced(int file, long call) {
  if (!number_of(file)) return (int)syscall(call, file);
  pthread_mutex_lock(&mutex);
  const enum disk_fault what = next_fault(disk_sync);
  if (what == disk_io_error)
    record(disk_sync, number_of(file), disk_sync_failed, NULL, NULL, NULL, 0);
  if (what != disk_well) return (int)failed(what);
  // What a test may lose is in its own hands: the real disk need not be waited for.
  record(disk_sync, number_of(file), files[file].is_folder ? disk_sync_folder : disk_sync_file,
         NULL, NULL, NULL, 0);
  return (int)ended(0, 1);
}

int fsync(int file) { return synced(file, SYS_fsync); }
int fdatasync(int file) { return synced(file, SYS_fdatasync); }

static int truncated(int file, off_t bytes) {
  if (!number_of(file)) return (int)syscall(SYS_ftruncate, file, bytes);
  pthread_mutex_lock(&mutex);
  const enum disk_fault what = next_fault(disk_truncate);
  if (what != disk_well) return (int)failed(what);
  const int result = (int)syscall(SYS_ftruncate, file, bytes);
  if (result == 0) record(disk_truncate, number_of(file), bytes, NULL, NULL, NULL, 0);
  return (int)ended(result, 1);
}
int ftruncate(int file, off_t bytes) { return truncated(file, bytes); }
int ftruncate64(int file, off_t bytes) { return truncated(file, bytes); }

static int opened(const char* path, int flags, mode_t mode) {
  if (!is_watched(path)) return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
  pthread_mutex_lock(&mutex);
  struct stat status;
  const int created = (flags & O_CREAT) != 0 && stat(path, &status) != 0;
  const enum disk_fault what = next_fault(created ? disk_create : disk_open);
  if (what != disk_well) return (int)failed(what);
  const int file = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
  if (file >= 0 && file < most_files) {
    files[file].number = next_number++;
    files[file].is_folder = fstat(file, &status) == 0 && S_ISDIR(status.st_mode);
    // Opening is told as well: it says which file a number stands for.
    record(disk_create, files[file].number, created, path, NULL, NULL, 0);
    if ((flags & O_TRUNC) != 0) record(disk_truncate, files[file].number, 0, NULL, NULL, NULL, 0);
  }
  return (int)ended(file, 1);
}

#define OPEN(name)                                                                       \
  int name(const char* path, int flags, ...) {                                           \
    va_list rest;                                                                        \
    va_start(rest, flags);                                                               \
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0; \
    va_end(rest);                                                                        \
    return opened(path, flags, mode);                                                    \
  }
OPEN(open)
OPEN(open64)

int close(int file) {
  if (number_of(file)) files[file].number = 0;
  return (int)syscall(SYS_close, file);
}

static int removed(const char* path, int flags) {
  if (!is_watched(path)) return (int)syscall(SYS_unlinkat, AT_FDCWD, path, flags);
  pthread_mutex_lock(&mutex);
  const enum disk_fault what = next_fault(disk_remove);
  if (what != disk_well) return (int)failed(what);
  const int result = (int)syscall(SYS_unlinkat, AT_FDCWD, path, flags);
  if (result == 0) record(disk_remove, -1, 0, path, NULL, NULL, 0);
  return (int)ended(result, 1);
}
int unlink(const char* path) { return removed(path, 0); }
int rmdir(const char* path) { return removed(path, AT_REMOVEDIR); }
int remove(const char* path) {
  struct stat status;
  const int folder = lstat(path, &status) == 0 && S_ISDIR(status.st_mode);
  return removed(path, folder ? AT_REMOVEDIR : 0);
}

int rename(const char* from, const char* to) {
  if (!is_watched(from) && !is_watched(to)) return (int)syscall(SYS_rename, from, to);
  pthread_mutex_lock(&mutex);
  const enum disk_fault what = next_fault(disk_rename);
  if (what != disk_well) return (int)failed(what);
  const int result = (int)syscall(SYS_rename, from, to);
  if (result == 0) record(disk_rename, -1, 0, from, to, NULL, 0);
  return (int)ended(result, 1);
}

int mkdir(const char* path, mode_t mode) {
  if (!is_watched(path)) return (int)syscall(SYS_mkdir, path, mode);
  pthread_mutex_lock(&mutex);
  const enum disk_fault what = next_fault(disk_make_folder);
  if (what != disk_well) return (int)failed(what);
  const int result = (int)syscall(SYS_mkdir, path, mode);
  if (result == 0) record(disk_make_folder, -1, 0, path, NULL, NULL, 0);
  return (int)ended(result, 1);
}

static int word_at(const char* const* words, int count, const char* word) {
  for (int i = 0; i < count; ++i)
    if (strcmp(words[i], word) == 0) return i;
  fprintf(stderr, "TESSERA_DISK_FAULT: unknown word %s\n", word);
  abort();
}

__attribute__((constructor)) static void set_from_environment(void) {
  static const char* const faults[] = {"well",     "kill",     "tear",     "short",
                                       "no_space", "io_error", "interrupt"};
  static const char* const kinds[] = {"any",         "write", "sync",   "create", "truncate",
                                      "remove",      "rename", "make_folder", "room",
                                      "open",        "read",  "lock",   "every"};
  const char *folder = getenv("TESSERA_DISK_FOLDER"), *text = getenv("TESSERA_DISK_FAULT");
  if (folder == NULL || text == NULL) return;
  char what[32], call[32];
  long long at = 1, times = 1;
  if (sscanf(text, "%31[^:]:%31[^:]:%lld:%lld", what, call, &at, &times) < 3) {
    fprintf(stderr, "TESSERA_DISK_FAULT is FAULT:CALL:AT[:TIMES], not %s\n", text);
    abort();
  }
  disk_set(folder, word_at(faults, 7, what), word_at(kinds, 13, call), at, times);
}
