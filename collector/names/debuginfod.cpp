// Replaces libdw's own debuginfod client, which loads the client library (and with it a whole network stack)
// even without a server. Here it is loaded only if the user names servers in DEBUGINFOD_URLS and there are
// functions to name.
#include "debuginfod.hpp"

#include <dlfcn.h>

#include <cstdlib>

#include "names/static_program.hpp"

extern "C" {
struct Dwfl;
struct debuginfod_client;
int __libdwfl_debuginfod_find_executable(Dwfl* dwfl, const unsigned char* build_id, std::size_t size);
int __libdwfl_debuginfod_find_debuginfo(Dwfl* dwfl, const unsigned char* build_id, std::size_t size);
void __libdwfl_debuginfod_end(debuginfod_client* client);
}

namespace {

class Client {
 public:
  Client() {
    const char* servers = std::getenv("DEBUGINFOD_URLS");
    if (servers == nullptr || *servers == '\0' || lotus::collector::is_static()) return;
    library_ = dlopen("libdebuginfod.so.1", RTLD_LAZY);
    if (library_ == nullptr) return;
    find_ = reinterpret_cast<Find>(dlsym(library_, "debuginfod_find_debuginfo"));
    const auto begin = reinterpret_cast<Begin>(dlsym(library_, "debuginfod_begin"));
    if (begin != nullptr) client_ = begin();
  }
  bool asks() const { return client_ != nullptr && find_ != nullptr; }
  // A descriptor of the file, negative if there is none.
  int find(const unsigned char* build_id, std::size_t size) const {
    if (!asks()) return -1;
    return find_(client_, build_id, static_cast<int>(size), nullptr);
  }

 private:
  using Begin = debuginfod_client* (*)();
  using Find = int (*)(debuginfod_client*, const unsigned char*, int, char**);
  void* library_ = nullptr;
  Find find_ = nullptr;
  debuginfod_client* client_ = nullptr;
};

const Client& client() {
  static const Client made;
  return made;
}

}  // namespace

bool lotus::collector::asks_servers() { return client().asks(); }

// Executables are never asked for: the collector has the file, since it unwound its code.
int __libdwfl_debuginfod_find_executable(Dwfl*, const unsigned char*, std::size_t) { return -1; }

int __libdwfl_debuginfod_find_debuginfo(Dwfl*, const unsigned char* build_id, std::size_t size) {
  return client().find(build_id, size);
}

void __libdwfl_debuginfod_end(debuginfod_client*) {}
