// Shows one reading of a trace to several visitors.
#pragma once

#include <vector>

#include "reading/model/visitor.hpp"

namespace lotus::analyzer {

// Visitors with wants_records() are not supported.
class Fan : public Visitor {
 public:
  // All outlive it.
  explicit Fan(std::vector<Visitor*> visitors) : visitors_(std::move(visitors)) {}

  bool wants_stacks() const override {
    for (const Visitor* visitor : visitors_)
      if (visitor->wants_stacks()) return true;
    return false;
  }
  void on_stack_sample(const Process& process, const Record& record, std::uint64_t ticks) override {
    for (Visitor* visitor : visitors_)
      if (visitor->wants_stacks()) visitor->on_stack_sample(process, record, ticks);
  }
  void on_sample_count(const Process& process, const Record& record, std::uint64_t ticks) override {
    for (Visitor* visitor : visitors_)
      if (visitor->wants_stacks()) visitor->on_sample_count(process, record, ticks);
  }
  void on_off_cpu(const Process& process, const Record& record, std::uint64_t ticks) override {
    for (Visitor* visitor : visitors_)
      if (visitor->wants_stacks()) visitor->on_off_cpu(process, record, ticks);
  }
  void on_span(const Span& span) override {
    for (Visitor* visitor : visitors_) visitor->on_span(span);
  }
  void on_point(const Stream& stream, const Record& record, std::uint64_t ticks) override {
    for (Visitor* visitor : visitors_) visitor->on_point(stream, record, ticks);
  }
  void on_native(const Stream& stream, const Record& record) override {
    for (Visitor* visitor : visitors_) visitor->on_native(stream, record);
  }
  void on_batch(const Batch& batch) override {
    for (Visitor* visitor : visitors_) visitor->on_batch(batch);
  }
  void on_gap(const Stream& stream, std::uint64_t lost_records, std::uint64_t ticks) override {
    for (Visitor* visitor : visitors_) visitor->on_gap(stream, lost_records, ticks);
  }
  void on_open_span(const Stream& stream, const OpenSpan& span, std::size_t depth) override {
    for (Visitor* visitor : visitors_) visitor->on_open_span(stream, span, depth);
  }

 private:
  std::vector<Visitor*> visitors_;
};

}  // namespace lotus::analyzer
