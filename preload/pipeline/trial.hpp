// LOTUS_TRY: settings that the program's DataLoaders are made with in this run instead of its own, and the
// number of threads of a worker's thread pools. Without it nothing here is ever called.
//
// All or nothing: where PyTorch would refuse one of the settings, the loader stays as the program makes it.
#pragma once

#include "python/call.hpp"

namespace lotus {

// Takes the settings from the value of LOTUS_TRY. Returns nullptr, or why nothing is tried.
const char* read_trial(const char* text);

bool is_trying();
// A worker's threads are to be limited.
bool is_limiting_threads();

// What the line on stderr says of it, once; nullptr: nothing is tried. What is only known later, as that a
// second loader is not changed, has a line of its own.
const char* trial_remark();

// Before the frame of DataLoader.__init__ is evaluated: puts the settings in the place of its arguments.
void change_loader(const Call& call);

// In a worker whose worker_init_fn is done: gives its thread pools that many threads, and keeps the program
// from giving them others. What is not loaded yet will find it in its environment variables.
void limit_threads();
void limit_thread_pools(long threads);  // trial_threads.cpp: the part for a given number

}  // namespace lotus
