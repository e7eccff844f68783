// Where the variables stand that every operation of a pipeline needs.
#pragma once

// Side by side in a section of their own: a sample's pixels drive all of them out of the caches between one
// operation and the next, and each line and each page of memory that they lie in is fetched anew.
#define LOTUS_HOT [[gnu::section("lotus_hot")]]

// For the declarations of such variables: hidden from other libraries, they are read directly and not through
// the global offset table.
#define LOTUS_DIRECT [[gnu::visibility("hidden")]]
