// Writes JSON while a trace is read, without a document in memory.
#pragma once

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <concepts>
#include <string_view>

namespace lotus::analyzer {

// Writes one JSON value without spaces or line ends; commas and colons follow from the calls.
class JsonWriter {
 public:
  JsonWriter() : writer_(buffer_) {}

  void start_object() { writer_.StartObject(); }
  void end_object() { writer_.EndObject(); }
  void start_array() { writer_.StartArray(); }
  void end_array() { writer_.EndArray(); }

  // The name of an object's member; its value comes next.
  JsonWriter& key(std::string_view name) {
    text(name);
    return *this;
  }

  // As json_string() writes it.
  void text(std::string_view text);
  void flag(bool truth) { writer_.Bool(truth); }
  void null() { writer_.Null(); }
  template <std::integral Number>
  void number(Number number) {
    if constexpr (std::signed_integral<Number>)
      writer_.Int64(number);
    else
      writer_.Uint64(number);
  }
  // A value that is JSON already, as numbers with decimals: RapidJSON would write them in another form.
  void json(std::string_view value) { writer_.RawValue(value.data(), value.size(), rapidjson::kNullType); }

  // What is written so far; valid until the next call.
  std::string_view written() const { return {buffer_.GetString(), buffer_.GetSize()}; }
  // Whether the written text is a complete value.
  bool complete() const { return writer_.IsComplete(); }
  // Begins a new value.
  void clear() {
    buffer_.Clear();
    writer_.Reset(buffer_);
  }

 private:
  rapidjson::StringBuffer buffer_;
  rapidjson::Writer<rapidjson::StringBuffer> writer_;
};

}  // namespace lotus::analyzer
