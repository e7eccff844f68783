#include "native/methods.hpp"

#include <cstring>
#include <iterator>

#include "native/hooks.hpp"
#include "native/locks.hpp"
#include "python/method_table.hpp"
#include "python/objects.hpp"
#include "python/state_lock.hpp"
#include "system/files.hpp"
#include "system/loaded.hpp"

namespace lotus {
namespace {

struct Row {
  const char* module;
  const char* type;          // nullptr: functions of the module itself
  const char* makers;        // type: functions of the module that return such objects, separated by spaces
  std::string_view methods;  // separated by spaces
};
// clang-format off
constexpr Row kRows[] = {
    {"PIL._imaging", "ImagingCore", "new fill map_buffer",
     "box_blur color_lut_3d convert convert2 convert_matrix convert_transparent copy crop effect_spread expand "
     "filter fillband gaussian_blur getband histogram offset paste point point_transform putband quantize "
     "rankfilter reduce resize split transform transform2 transpose unsharp_mask "
     "chop_add chop_subtract chop_multiply chop_difference chop_invert"},
    {"PIL._imaging", "ImagingDecoder",
     "jpeg_decoder zip_decoder raw_decoder gif_decoder libtiff_decoder jpeg2k_decoder bit_decoder bcn_decoder "
     "packbits_decoder pcx_decoder tga_rle_decoder sgi_rle_decoder sun_rle_decoder hex_decoder fli_decoder "
     "pcd_decoder xbm_decoder",
     "decode"},
    {"PIL._imaging", nullptr, nullptr, "new fill map_buffer blend alpha_composite merge"},
    {"PIL._webp", nullptr, nullptr, "WebPDecode"},
    {"cv2", nullptr, nullptr,
     "imread imreadmulti imdecode resize cvtColor warpAffine warpPerspective remap flip transpose rotate "
     "copyMakeBorder GaussianBlur blur boxFilter medianBlur bilateralFilter filter2D LUT normalize merge split add "
     "addWeighted subtract multiply divide convertScaleAbs threshold adaptiveThreshold equalizeHist Canny "
     "erode dilate morphologyEx undistort inRange bitwise_and bitwise_or bitwise_not calcHist"},
    {"numpy.core._multiarray_umath", nullptr, nullptr, "fromfile frombuffer fromstring"},   // up to NumPy 1
    {"numpy._core._multiarray_umath", nullptr, nullptr, "fromfile frombuffer fromstring"},  // from NumPy 2
    {"zlib", nullptr, nullptr, "decompress"},
    {"zlib", "Decompress", "decompressobj", "decompress"},
    {"gc", nullptr, nullptr, "collect"},
};
// clang-format on

constinit bool hooked[std::size(kRows)] =
    {};  // a type's row: its makers are; its methods at the first object
constinit bool methods_hooked[std::size(kRows)] = {};
constinit py::Ssize modules_seen = 0;

template <class Visit>
void each_word(std::string_view words, Visit&& visit) {
  while (!words.empty()) {
    const auto end = words.find(' ');
    const bool last = end == std::string_view::npos;
    visit(std::string_view(words.data(), last ? words.size() : end));
    words.remove_prefix(last ? words.size() : end + 1);
  }
}

// An attribute of a module or type as it stands in its dictionary: no code of theirs runs. Borrowed.
py::Object* attribute(py::Object* object, bool is_type, std::string_view name) {
  char text[64];
  if (name.size() >= sizeof text) return nullptr;
  std::memcpy(text, name.data(), name.size());
  text[name.size()] = '\0';
  const Owned key(py::api.PyUnicode_InternFromString(text));
  if (!key) return nullptr;
  if (is_type) return py::api._PyType_Lookup(reinterpret_cast<py::Type*>(object), key.get());
  const Owned found(plain_attribute(object, key.get()));
  return found.get();  // the module keeps it
}

void* count_method(const ReplacedMethod& method, const MethodArguments& arguments) {
  Thread* thread = counting_thread();
  if (thread == nullptr) return method.run(arguments);
  return timed(*thread, static_cast<HookId>(method.data), [&] { return method.run(arguments); });
}

// `object`: a module or a type; `prefix`: the type's name, or nullptr.
void hook_methods(py::Object* object, const char* prefix, std::string_view methods) {
  each_word(methods, [&](std::string_view name) {
    py::Object* callable = attribute(object, prefix != nullptr, name);
    MethodDef* definition = callable != nullptr ? method_of(callable) : nullptr;
    if (definition == nullptr) return;
    char full[128];
    std::size_t used = 0;
    const auto append = [&](std::string_view text) {
      for (const char c : text)
        if (used < sizeof full) full[used++] = c;
    };
    if (prefix != nullptr) {
      append(prefix);
      append(".");
    }
    append(name);
    const Loaded library = find_loaded(reinterpret_cast<const void*>(original_of(definition)));
    const std::string_view file = library.path().empty() ? "python" : base_name(library.path());
    if (const HookId id = add_hook({full, used}, file)) replace_method(definition, count_method, id);
  });
}

// Many types have no name in their module: the first object that a function of the module makes shows its
// type.
void* meet_type(const ReplacedMethod& method, const MethodArguments& arguments) {
  void* result = method.run(arguments);
  const std::size_t row = method.data;
  if (result == nullptr || methods_hooked[row] || process.off) return result;
  py::Type* type = py::type_of(static_cast<py::Object*>(result));
  std::string_view name = py::type_name(type);
  if (const auto dot = name.rfind('.'); dot != std::string_view::npos) name.remove_prefix(dot + 1);
  const StateLock lock;
  if (name != kRows[row].type || methods_hooked[row]) return result;
  methods_hooked[row] = true;
  hook_methods(reinterpret_cast<py::Object*>(type), kRows[row].type, kRows[row].methods);
  return result;
}

void hook_row(std::size_t row, py::Object* module) {
  if (kRows[row].type == nullptr) return hook_methods(module, nullptr, kRows[row].methods);
  each_word(kRows[row].makers, [&](std::string_view name) {
    py::Object* maker = attribute(module, false, name);
    MethodDef* definition = maker != nullptr ? method_of(maker) : nullptr;
    if (definition != nullptr) replace_method(definition, meet_type, row);
  });
}

}  // namespace

void hook_imported_modules() {
  py::Object* modules = py::api.PyImport_GetModuleDict();
  if (modules == nullptr || process.off) return;
  const py::Ssize size = py::api.PyObject_Size(modules);
  if (size == modules_seen) return;
  modules_seen = size;
  hook_locks();
  for (std::size_t row = 0; row < std::size(kRows); ++row) {
    py::Object* module = hooked[row] ? nullptr : py::api.PyDict_GetItemString(modules, kRows[row].module);
    if (module == nullptr) continue;
    hooked[row] = true;
    hook_row(row, module);
  }
  py::api.PyErr_Clear();
}

}  // namespace lotus
