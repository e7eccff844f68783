#include "reading/trace/catalog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <iterator>
#include <lotus/field.hpp>
#include <set>

namespace lotus::analyzer {
namespace {

std::optional<std::uint64_t> if_known(std::uint64_t value) {
  return value == ~std::uint64_t{0} ? std::nullopt : std::optional(value);
}

std::uint64_t distance(std::uint64_t a, std::uint64_t b) { return a < b ? b - a : a - b; }

OpRole role_of(std::uint64_t code) {
  return code <= static_cast<std::uint64_t>(OpRole::runner) ? static_cast<OpRole>(code) : OpRole::transform;
}

// multiprocessing gives the program's main module another name in processes that it spawns.
std::string same_in_spawned(std::string_view qualified) {
  constexpr std::string_view kSpawned = "__mp_main__.";
  if (!qualified.starts_with(kSpawned)) return std::string(qualified);
  return "__main__." + std::string(qualified.substr(kSpawned.size()));
}

}  // namespace

const Loader* Process::loader_of(std::uint64_t iterator) const {
  const auto id = iterators.find(iterator);
  if (id == iterators.end()) return nullptr;
  const auto loader = loaders.find(id->second);
  return loader == loaders.end() ? nullptr : &loader->second;
}

const Epoch* Process::epoch_of(std::uint64_t iterator, std::uint64_t reset) const {
  const auto epoch = epochs.find({iterator, reset});
  return epoch == epochs.end() ? nullptr : &epoch->second;
}

std::uint64_t Process::loader_id_of(std::uint64_t iterator) const {
  const Loader* loader = loader_of(iterator);
  return loader == nullptr ? 0 : loader->id;
}

std::uint64_t Process::epoch_number_of(std::uint64_t iterator, std::uint64_t reset) const {
  const Epoch* epoch = epoch_of(iterator, reset);
  return epoch == nullptr ? reset : epoch->number;
}

void Process::settle() {
  begun_.clear();
  for (const auto& [key, epoch] : epochs) {
    auto& begun = begun_[key.first];
    begun.push_back({begun.empty() ? epoch.ticks : std::max(begun.back().ticks, epoch.ticks), key.second});
  }
}

std::uint64_t Process::reset_at(std::uint64_t iterator, std::uint64_t ticks) const {
  const auto found = begun_.find(iterator);
  if (found == begun_.end()) return 0;
  const auto& begun = found->second;
  const auto later = std::upper_bound(begun.begin(), begun.end(), ticks,
                                      [](std::uint64_t at, const Begun& entry) { return at < entry.ticks; });
  return later == begun.begin() ? 0 : std::prev(later)->reset;
}

std::string TimersRefused::why() const {
  if (error != EAGAIN)
    return fmt::format("{}: does a seccomp filter forbid timer_create()?",
                       std::strerror(static_cast<int>(error)));
  const bool limited = limit < UINT64_MAX;
  return fmt::format("the limit of pending signals (ulimit -i){} leaves no room; raise it",
                     limited ? fmt::format(" of {}", limit) : "");
}

Process& Catalog::process(std::uint32_t number) {
  if (number == 0) return collector_;
  auto& slot = processes_[number];
  if (slot == nullptr) {
    slot = std::make_unique<Process>();
    slot->number = number;
  }
  return *slot;
}

const Op& Catalog::intern(OpRole role, std::string name, std::string qualified, std::string file,
                          std::uint64_t line) {
  auto& slot = ops_[{role, name, qualified, file, line}];
  if (slot == nullptr) {
    const auto index = static_cast<std::uint32_t>(ops_.size() - 1);
    slot =
        std::make_unique<Op>(Op{index, role, std::move(name), std::move(qualified), std::move(file), line});
  }
  return *slot;
}

const Op& Catalog::op(Process& process, std::uint64_t id) {
  const Op*& slot = process.ops.slot(id);
  if (slot != nullptr) return *slot;
  const bool named = lost_names_++ < kMostLostNames;
  slot = &intern(OpRole::transform,
                 named ? fmt::format("op {} (its name is lost)", id) : "other ops (their names are lost)", "",
                 "", 0);
  return *slot;
}

void Catalog::define_process(Process& process, const Record& record) {
  if (process.pid == 0) process.pid = static_cast<std::uint32_t>(field<Kind::process, "pid">(record));
  if (process.parent_pid == 0)
    process.parent_pid = static_cast<std::uint32_t>(field<Kind::process, "parent">(record));
  process.python = field<Kind::process, "python">(record);
  process.program = field<Kind::process, "program">(record);
  process.arguments = field<Kind::process, "arguments">(record);
  process.directory = field<Kind::process, "directory">(record);
  process.host = field<Kind::process, "host">(record);
  process.cores = field<Kind::process, "cores">(record);
  process.pair_cost_ps = field<Kind::process, "pair_cost_ps">(record);
  process.torch = field<Kind::process, "torch">(record);
}

void Catalog::define_op(Process& process, const Record& record) {
  process.ops.slot(field<Kind::op_def, "id">(record)) =
      &intern(role_of(field<Kind::op_def, "role">(record)), std::string(field<Kind::op_def, "name">(record)),
              same_in_spawned(field<Kind::op_def, "qualified">(record)),
              std::string(field<Kind::op_def, "file">(record)), field<Kind::op_def, "line">(record));
}

void Catalog::define_loader(Process& process, const Record& record) {
  const std::uint64_t id = field<Kind::loader, "id">(record);
  const auto before = process.loaders.find(id);
  Loader loader;
  loader.id = id;
  loader.workers = field<Kind::loader, "workers">(record);
  loader.prefetch = field<Kind::loader, "prefetch">(record);
  loader.batch_size = field<Kind::loader, "batch_size">(record);
  loader.pin_memory = field<Kind::loader, "pin_memory">(record) != 0;
  loader.persistent = field<Kind::loader, "persistent">(record) != 0;
  loader.in_order = field<Kind::loader, "in_order">(record) != 0;
  loader.dataset = field<Kind::loader, "dataset">(record);
  loader.length = field<Kind::loader, "length">(record);
  loader.sampler = field<Kind::loader, "sampler">(record);
  loader.made = before == process.loaders.end() ? 1 : before->second.made + 1;
  process.loaders[id] = std::move(loader);
}

// It comes behind the loader's definition, each time.
void Catalog::define_place(Process& process, const Record& record) {
  const auto loader = process.loaders.find(field<Kind::loader_place, "id">(record));
  if (loader == process.loaders.end()) return;
  loader->second.variable = field<Kind::loader_place, "variable">(record);
  loader->second.file = field<Kind::loader_place, "file">(record);
  loader->second.line = field<Kind::loader_place, "line">(record);
}

void Catalog::define_imported(const Record& record) {
  if (record.kind == Kind::configuration) {
    imported.configuration = field<Kind::configuration, "name">(record);
    imported.ranks = field<Kind::configuration, "ranks">(record);
  } else if (record.kind == Kind::mapped) {
    imported.mapped.push_back({std::string(field<Kind::mapped, "op">(record)),
                               std::string(field<Kind::mapped, "function">(record)),
                               std::string(field<Kind::mapped, "library">(record))});
  } else {
    Counter counter{std::string(field<Kind::counter, "function">(record)),
                    std::string(field<Kind::counter, "library">(record)),
                    std::string(field<Kind::counter, "name">(record)), 0,
                    field<Kind::counter, "percent">(record) != 0};
    const std::string_view value = field<Kind::counter, "value">(record);
    std::from_chars(value.data(), value.data() + value.size(), counter.value);
    imported.counters.push_back(std::move(counter));
  }
}

void Catalog::define(std::uint32_t number, const Record& record, std::uint64_t ticks) {
  Process& target = process(number);
  switch (record.kind) {
    case Kind::process:
      return define_process(target, record);
    case Kind::architecture:
      target.architecture = field<Kind::architecture, "name">(record);
      return;
    case Kind::thread:
      target.threads[static_cast<std::uint32_t>(field<Kind::thread, "stream">(record))] = {
          field<Kind::thread, "tid">(record), std::string(field<Kind::thread, "name">(record))};
      return;
    case Kind::tracing_cost:
      target.start_cost_ns = field<Kind::tracing_cost, "start_ns">(record);
      return;
    case Kind::op_def:
      return define_op(target, record);
    case Kind::loader:
      return define_loader(target, record);
    case Kind::other_loader:
      if (const auto loader = target.loaders.find(field<Kind::other_loader, "id">(record));
          loader != target.loaders.end())
        loader->second.library = field<Kind::other_loader, "library">(record);
      return;
    case Kind::loader_place:
      return define_place(target, record);
    case Kind::iterator:
      target.iterators[field<Kind::iterator, "id">(record)] = field<Kind::iterator, "loader">(record);
      return;
    case Kind::epoch:
      target.epochs[{field<Kind::epoch, "iterator">(record), field<Kind::epoch, "reset">(record)}] = {
          field<Kind::epoch, "epoch">(record), ticks};
      return;
    case Kind::sampling:
      target.sampling = {field<Kind::sampling, "hz">(record), field<Kind::sampling, "period_ns">(record),
                         field<Kind::sampling, "source">(record)};
      return;
    case Kind::stopped:
      target.stops.push_back({field<Kind::stopped, "since">(record), field<Kind::stopped, "ticks">(record)});
      return;
    case Kind::timers_refused:
      target.timers_refused = {field<Kind::timers_refused, "error">(record),
                               field<Kind::timers_refused, "limit">(record)};
      return;
    case Kind::hook:
      target.hooks[field<Kind::hook, "id">(record)] = {std::string(field<Kind::hook, "name">(record)),
                                                       std::string(field<Kind::hook, "library">(record))};
      return;
    case Kind::counting:
      target.counters[field<Kind::counting, "counter">(record)] = {
          std::string(field<Kind::counting, "name">(record)), field<Kind::counting, "user_only">(record) != 0,
          field<Kind::counting, "error">(record)};
      return;
    case Kind::python_code:
      target.python_codes[field<Kind::python_code, "id">(record)] = {
          std::string(field<Kind::python_code, "name">(record)),
          std::string(field<Kind::python_code, "file">(record)), field<Kind::python_code, "line">(record)};
      return;
    case Kind::place:
      target.places[field<Kind::place, "id">(record)] = {
          field<Kind::place, "parent">(record), field<Kind::place, "code">(record),
          field<Kind::place, "line">(record), field<Kind::place, "offset">(record)};
      return;
    case Kind::code_table:
      target.code_tables[field<Kind::code_table, "code">(record)] = {
          std::string(field<Kind::code_table, "bytecode">(record)),
          std::string(field<Kind::code_table, "lines">(record)),
          std::string(field<Kind::code_table, "names">(record)),
          std::string(field<Kind::code_table, "exceptions">(record))};
      return;
    case Kind::lane_cost:
      target.lane_cost = {
          field<Kind::lane_cost, "operator_ps">(record), field<Kind::lane_cost, "inside_operator_ps">(record),
          field<Kind::lane_cost, "nested_ps">(record), field<Kind::lane_cost, "call_ps">(record),
          field<Kind::lane_cost, "tensor_ps">(record)};
      return;
    case Kind::graph_break:
      target.graph_breaks.push_back({field<Kind::graph_break, "region">(record),
                                     std::string(field<Kind::graph_break, "function">(record)),
                                     std::string(field<Kind::graph_break, "file">(record)),
                                     field<Kind::graph_break, "line">(record),
                                     std::string(field<Kind::graph_break, "reason">(record))});
      return;
    case Kind::compilation:
      target.compilations.push_back({field<Kind::compilation, "region">(record),
                                     std::string(field<Kind::compilation, "function">(record)),
                                     std::string(field<Kind::compilation, "file">(record)),
                                     field<Kind::compilation, "line">(record),
                                     if_known(field<Kind::compilation, "took">(record)),
                                     if_known(field<Kind::compilation, "guards">(record)),
                                     if_known(field<Kind::compilation, "checking">(record)),
                                     std::string(field<Kind::compilation, "why">(record)),
                                     std::string(field<Kind::compilation, "failed">(record))});
      return;
    case Kind::tensor_form:
      target.tensor_forms[field<Kind::tensor_form, "id">(record)] = {
          field<Kind::tensor_form, "dtype">(record), std::string(field<Kind::tensor_form, "sizes">(record))};
      return;
    case Kind::no_steps:
      target.no_steps = field<Kind::no_steps, "reason">(record);
      return;
    case Kind::processor:
      target.processor = {std::string(field<Kind::processor, "vendor">(record)),
                          field<Kind::processor, "family">(record), field<Kind::processor, "model">(record)};
      return;
    case Kind::rank:
      target.rank = {field<Kind::rank, "rank">(record), field<Kind::rank, "world">(record),
                     field<Kind::rank, "local">(record)};
      return;
    case Kind::tried:
      target.tried.push_back({std::string(field<Kind::tried, "settings">(record)),
                              std::string(field<Kind::tried, "instead">(record)),
                              std::string(field<Kind::tried, "refused">(record))});
      return;
    case Kind::configuration:
    case Kind::mapped:
    case Kind::counter:
      return define_imported(record);
    case Kind::worker_link:
      links_[field<Kind::worker_link, "pid">(record)].push_back(
          {{&target, field<Kind::worker_link, "iterator">(record),
            field<Kind::worker_link, "worker">(record)},
           ticks});
      return;
    default:
      return;
  }
}

bool Process::has_records_until(std::uint64_t tid, std::uint64_t ticks) const {
  if (end) return true;
  if (const auto found = last_records.find(tid); found != last_records.end()) return ticks <= found->second;
  return std::any_of(last_records.begin(), last_records.end(),
                     [&](const auto& last) { return ticks <= last.second; });
}

std::uint64_t Catalog::unrecorded_workers() const {
  std::set<std::uint64_t> absent;
  for (const auto& [pid, links] : links_) absent.insert(pid);
  for (const auto& [number, process] : processes_) absent.erase(process->pid);
  return absent.size();
}

std::uint64_t Catalog::missing_workers() const {
  const auto missing = [](const auto& numbered) {
    const Process& process = *numbered.second;
    return process.worker_of && !process.end && process.last_records.empty();
  };
  return static_cast<std::uint64_t>(std::count_if(processes_.begin(), processes_.end(), missing));
}

// The link to a process's pid that is nearest in time to its start: others may have had the pid before.
const Catalog::Link* Catalog::nearest_link(const Process& process) const {
  const auto found = links_.find(process.pid);
  if (found == links_.end()) return nullptr;
  const std::vector<Link>& links = found->second;
  const auto ours = [&](const Link& link) { return link.of.training != &process; };
  const std::uint64_t born = process.created.ticks;
  const auto behind = std::lower_bound(links.begin(), links.end(), born,
                                       [](const Link& link, std::uint64_t at) { return link.ticks < at; });
  const auto after = std::find_if(behind, links.end(), ours);
  const auto before = std::find_if(std::make_reverse_iterator(behind), links.rend(), ours);
  if (after == links.end()) return before == links.rend() ? nullptr : &*before;
  if (before == links.rend()) return &*after;
  return distance(before->ticks, born) <= distance(after->ticks, born) ? &*before : &*after;
}

namespace {

// Parts of the file names of libraries that decode and change images.
constexpr std::string_view kImageLibraries[] = {"libjpeg", "libturbojpeg", "libwebp", "_imaging", "cv2"};
// Parts of the paths of Python code that does.
constexpr std::string_view kImageCode[] = {"/PIL/", "/cv2/", "/torchvision/", "/albumentations/", "/kornia/"};

template <std::size_t N>
bool has_any(std::string_view text, const std::string_view (&parts)[N]) {
  return std::any_of(std::begin(parts), std::end(parts),
                     [&](std::string_view part) { return text.find(part) != text.npos; });
}

}  // namespace

const char* Catalog::sample_unit() const {
  const bool of_code = std::any_of(ops_.begin(), ops_.end(),
                                   [](const auto& op) { return has_any(op.second->file, kImageCode); });
  const bool called = std::any_of(processes_.begin(), processes_.end(), [](const auto& process) {
    const auto& hooks = process.second->hooks;
    return std::any_of(hooks.begin(), hooks.end(),
                       [](const auto& hook) { return has_any(hook.second.library, kImageLibraries); });
  });
  return of_code || called ? "images" : "samples";
}

void Catalog::link_workers() {
  for (auto& [pid, links] : links_)
    std::stable_sort(links.begin(), links.end(),
                     [](const Link& a, const Link& b) { return a.ticks < b.ticks; });
  for (auto& [number, process] : processes_) {
    process->settle();
    if (const Link* nearest = nearest_link(*process)) process->worker_of = nearest->of;
  }
  for (auto& [number, process] : processes_)
    if (process->worker_of && process->worker_of->training->rank)
      process->rank = process->worker_of->training->rank;
}

}  // namespace lotus::analyzer
