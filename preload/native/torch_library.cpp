#include "native/torch_library.hpp"

#include <cstring>

#include "system/files.hpp"
#include "system/loaded.hpp"
#include "system/mappings.hpp"

namespace lotus {

constinit Torch torch{};

namespace {

enum class Search : std::uint8_t { open, failed, found };
constinit Search search = Search::open;

template <class Target>
bool find(const Loaded& library, const char* name, Target& target) {
  const Symbol symbol = find_symbol(library, name);
  void* address = symbol ? symbol.address() : nullptr;
  std::memcpy(&target, &address, sizeof address);
  return address != nullptr;
}

const void* inside_libtorch() {
  Mappings mappings;
  Mapping mapping;
  while (mappings.next(mapping))
    if (mapping.executable && base_name(mapping.path).starts_with("libtorch_cpu.so"))
      return reinterpret_cast<const void*>(mapping.start);
  return nullptr;
}

bool find_in(const Loaded& library) {
  find(library, "_ZN2at23hasThreadLocalCallbacksEv", torch.has_any);
  find(library, "_ZN2at15sequence_number4peekEv", torch.next_node);
  return find(library, "_ZN2at22addThreadLocalCallbackENS_22RecordFunctionCallbackE", torch.add) &&
         find(library, "_ZN2at14removeCallbackEm", torch.remove) &&
         find(library, "_ZNK2at14RecordFunction4nameEv", torch.name);
}

}  // namespace

bool find_torch() {
  if (search != Search::open) return search == Search::found;
  search = Search::failed;
  const void* const inside = inside_libtorch();
  const Loaded library = inside != nullptr ? find_loaded(inside) : Loaded{};
  if (!library) return false;
  const std::string_view name = base_name(library.path());
  std::memcpy(torch.library, name.data(), name.size() < 63 ? name.size() : 63);
  if (find_in(library)) search = Search::found;
  return search == Search::found;
}

}  // namespace lotus
