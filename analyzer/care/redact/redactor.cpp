#include "care/redact/redactor.hpp"

#include <algorithm>
#include <lotus/field.hpp>

#include "reading/trace/frames.hpp"

namespace lotus::analyzer {

Redactor::Redactor(const Trace& trace, Hasher& hasher, Output& out)
    : trace_(trace), hasher_(hasher), payload_(trace.source), writer_(out, trace.header, trace.schema) {
  for (std::size_t code = 0; code < 256; ++code) {
    std::fill(std::begin(redactions_[code]), std::end(redactions_[code]), Redaction::text);
    const auto kind = static_cast<Kind>(code);
    if (!trace.schema.understood(kind)) continue;
    const auto& fields = trace.schema.fields(kind);
    for (std::size_t i = 0; i < fields.size(); ++i)
      redactions_[code][i] = policy_of(trace.schema.name(kind), fields[i]).redaction;
  }
}

Redacted Redactor::run() {
  FrameCursor cursor(trace_.source, trace_.header.header_bytes);
  Frame next;
  while (cursor.next(next)) {
    const FrameType type = next.header.type;
    if (type == FrameType::schema || type == FrameType::index || type == FrameType::trailer) continue;
    Body body;
    if (payload_.read(next, body))
      frame(next, body);
    else
      drop(next);
  }
  if (trace_.trailer) writer_.finish(*trace_.trailer);
  result_.events = writer_.events();
  return result_;
}

void Redactor::frame(const Frame& frame, Body body) {
  const FrameType type = frame.header.type;
  if (holds_records(type)) {
    if (!records(body)) drop(frame);
    if (!bytes_.empty()) writer_.pack(frame.header, bytes_);
    return;
  }
  const std::size_t bytes = structure_bytes(type);
  if (bytes == 0 || body.size() < bytes) return drop(frame);
  writer_.raw(frame.header, body.first(bytes));
}

void Redactor::drop(const Frame& frame) {
  ++result_.dropped_frames;
  result_.dropped_bytes += frame.end() - frame.offset;
}

bool Redactor::records(Body body) {
  bytes_.clear();
  path_.clear();
  redacted_path_.clear();
  const std::uint8_t* in = body.data();
  const std::uint8_t* const end = in + body.size();
  Record found;
  while (in < end) {
    in = decode(in, end, found, trace_.schema.layout());
    if (in == nullptr) return false;
    record(found);
  }
  return true;
}

void Redactor::record(const Record& record) {
  const auto& row = trace_.schema.layout().rows[static_cast<std::uint8_t>(record.kind)];
  bytes_.push_back(static_cast<std::uint8_t>(record.kind));
  put(record.dt);
  if (record.kind == Kind::path && trace_.schema.exact(record.kind)) return path(record);
  for (std::size_t i = 0; i < record.count; ++i) {
    if (row.types[i] == 's')
      put(text(record, i));
    else
      put(coded(row.types[i], record.u[i]));
  }
}

std::string Redactor::text(const Record& record, std::size_t field) {
  switch (redactions_[static_cast<std::uint8_t>(record.kind)][field]) {
    case Redaction::keep:
      return std::string(record.s[field]);
    case Redaction::path:
      return hasher_.path(record.s[field]);
    case Redaction::library:
      return hasher_.library(record.s[field]);
    case Redaction::text:
      break;
  }
  return hasher_.text(record.s[field]);
}

// Paths are coded as differences to the path before, so they are decoded, hashed as a whole, and coded again.
void Redactor::path(const Record& record) {
  const std::uint64_t of_before = field<Kind::path, "shared">(record);
  if (of_before <= path_.size()) path_.resize(of_before);
  path_.append(field<Kind::path, "suffix">(record));
  if (path_.size() > kMaxStringInRecord) path_.clear();  // as other readers do
  const std::string hashed = hasher_.path(path_);
  const auto differ =
      std::mismatch(hashed.begin(), hashed.end(), redacted_path_.begin(), redacted_path_.end());
  const auto shared = static_cast<std::size_t>(differ.first - hashed.begin());
  put(shared);
  put(std::string_view(hashed).substr(shared));
  redacted_path_ = hashed;
}

void Redactor::put(std::uint64_t number) {
  std::uint8_t varint[kMaxVarint];
  bytes_.insert(bytes_.end(), static_cast<std::uint8_t*>(varint), put_varint(varint, number));
}

void Redactor::put(std::string_view text) {
  put(text.size());
  bytes_.insert(bytes_.end(), text.begin(), text.end());
}

}  // namespace lotus::analyzer
