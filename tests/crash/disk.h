#pragma once

// The disk of a test: a library that stands between a program and the C library, and below one
// folder does what disks and crashes do. A test program links it and calls the functions below in
// the process that is to suffer; any other program is started with LD_PRELOAD=libtest_disk.so and
//   TESSERA_DISK_FOLDER=FOLDER TESSERA_DISK_FAULT=FAULT:CALL:AT[:TIMES]
// with the words of the enumerations, as in kill:any:17 or no_space:write:3:2.

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum disk_call {
  disk_any,       // all that change the disk: those up to disk_make_folder
  disk_write,     // write, pwrite
  disk_sync,      // fsync, fdatasync
  disk_create,    // open of a file that is not there yet
  disk_truncate,  // ftruncate
  disk_remove,    // unlink, remove
  disk_rename,
  disk_make_folder,
  disk_room,   // fallocate: room is taken, or given back
  disk_open,   // of a file that is there
  disk_read,   // read, pread
  disk_lock,   // flock
  disk_every,  // all of these
};

enum disk_fault {
  disk_well,
  disk_kill,       // the process ends before the call
  disk_tear,       // a write is half done, then the process ends
  disk_short,      // half of a write is done, and said to be
  disk_no_space,   // half of a write is done if that is much, and nothing after it: ENOSPC
  disk_io_error,   // EIO
  disk_interrupt,  // EINTR
};

/// Watches a folder. The fault hits the call number `at` of its kind, counted from 1, and those
/// after it, `times` in all; 0 times is from there on always. disk_well: nothing happens any more.
void disk_set(const char* folder, enum disk_fault fault, enum disk_call call, int64_t at,
              int64_t times);
int64_t disk_calls(void);   // below the folder, since it was set
int64_t disk_faults(void);  // that were done

/// Everything that changes the disk from here on is written to a file, for what a loss of power
/// would leave of it.
void disk_record(const char* log);
void disk_note(int64_t number);  // a mark in that file

enum { disk_sync_file, disk_sync_folder, disk_sync_failed };

/// An entry of that file; the name, the other name and the data follow.
struct disk_entry {
  enum disk_call call;        // disk_any: a note, its number being the offset
  int32_t file;               // a number for each file that was opened; -1 for calls on names
  int64_t offset;             // of a write; the length after a truncation; what was synchronised
  int64_t name, other, data;  // bytes that follow
};

#ifdef __cplusplus
}
#endif
