#include "answers/report/file_formats.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>

namespace lotus::analyzer {
namespace {

struct Format {
  const char* name;
  std::array<std::string_view, 8> ends;  // of names of files
};

constexpr Format kFormats[] = {
    {"a JSON file", {".json", ".geojson", ".jsonl", ".ndjson"}},
    {"an archive", {".tar", ".tgz", ".gz", ".bz2", ".xz", ".tbz2", ".txz"}},
    {"a ZIP archive", {".zip"}},
    {"an HDF5 file", {".h5", ".hdf5", ".hdf", ".he5", ".nc"}},
    {"a NumPy file", {".npy", ".npz"}},
    {"a pickle", {".pkl", ".pickle", ".pt", ".pth"}},
    {"a table", {".csv", ".tsv", ".parquet", ".feather", ".xml"}},
    {"a YAML file", {".yaml", ".yml"}},
};
static_assert(std::size(kFormats) == kFileFormats);
constexpr std::size_t kPickle = 5;

// Functions by the end of their source file's path and of their name; or all of a library, by the begin of
// its name.
struct Reader {
  std::size_t format;
  std::string_view file, function;
  std::string_view library{};
};

constexpr Reader kReaders[] = {
    {0, "/json/__init__.py", ""},
    {0, "/json/decoder.py", ""},
    {0, "", "", "orjson"},
    {0, "", "", "ujson"},
    {1, "/tarfile.py", ""},
    {1, "/gzip.py", ""},
    {1, "/bz2.py", ""},
    {1, "/lzma.py", ""},
    {2, "/zipfile.py", "__init__"},
    {2, "/zipfile.py", "_RealGetContents"},
    {2, "/zipfile/__init__.py", "__init__"},
    {2, "/zipfile/__init__.py", "_RealGetContents"},
    {3, "/h5py/_hl/files.py", "__init__"},
    {3, "/h5py/_hl/files.py", "make_fid"},
    {3, "/h5py/_hl/files.py", "close"},
    {4, "/numpy/lib/npyio.py", "load"},
    {4, "/numpy/lib/_npyio_impl.py", "load"},
    // From a ZIP archive of them, an array is read whole.
    {4, "/numpy/lib/npyio.py", "__getitem__"},
    {4, "/numpy/lib/_npyio_impl.py", "__getitem__"},
    {4, "/numpy/lib/format.py", "read_array"},
    {4, "/numpy/lib/_format_impl.py", "read_array"},
    {kPickle, "/pickle.py", ""},
    {kPickle, "/torch/serialization.py", ""},
    {kPickle, "", "", "_pickle."},
    {6, "/pandas/io/parsers/readers.py", ""},
    {6, "/pandas/io/parquet.py", ""},
    {6, "/csv.py", ""},
    {6, "/xml/etree/ElementTree.py", ""},
    {7, "/yaml/__init__.py", ""},
};

}  // namespace

std::optional<std::size_t> format_of(std::string_view path) {
  std::string name(path.substr(path.rfind('/') + 1));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (std::size_t format = 0; format < kFileFormats; ++format)
    for (const auto end : kFormats[format].ends)
      if (!end.empty() && name.ends_with(end)) return format;
  return std::nullopt;
}

const char* name_of_format(std::size_t format) { return kFormats[format].name; }

std::optional<std::size_t> format_read_by(const NamedFrame& function) {
  // CPython's own pickle, where its library has names.
  if (function.part == Part::interpreter && function.name.starts_with("_pickle_")) return kPickle;
  for (const Reader& reader : kReaders) {
    const bool found = reader.library.empty()
                           ? function.part == Part::python && function.file.ends_with(reader.file) &&
                                 function.name.ends_with(reader.function)
                           : function.library.starts_with(reader.library);
    if (found) return reader.format;
  }
  return std::nullopt;
}

}  // namespace lotus::analyzer
