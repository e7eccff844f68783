// A library whose functions the tests look up: exported, local, inlined, with aliases, in C and C++.
namespace shapes {

struct Square {
  double side;
  [[gnu::noinline]] double area(int times) const;
};
double Square::area(int times) const {
  double sum = 0;
  for (int i = 0; i < times; ++i) sum += side * side / (i + 1);
  return sum;
}

template <class Number>
[[gnu::noinline]] Number doubled(Number number) {
  asm volatile("" ::: "memory");
  return number + number;
}
template double doubled<double>(double);

int with_lambda(int value) {
  const auto step = [](int by) __attribute__((noinline)) {
    asm volatile("" ::: "memory");
    return by * 11;
  };
  return step(value) + step(value + 1);
}

}  // namespace shapes

[[gnu::always_inline]] static inline int deepest(int value) {
  asm volatile("nop\n nop\n nop\n nop" ::: "memory");
  return value * 3;
}
[[gnu::always_inline]] static inline int between(int value) {
  asm volatile("nop" ::: "memory");
  return deepest(value) + 1;
}

// Not exported: once symbols are stripped, its name is known from no table.
[[gnu::noinline]] static int hidden(int value) {
  for (int i = 0; i < 10; ++i) {
    asm volatile("" ::: "memory");
    value = value * 7 + i;
  }
  return value;
}

extern "C" {

int exported(int value) { return between(value) + hidden(value) + 5; }
int __alias_of_exported(int value) __attribute__((alias("exported")));

double caller(double value) {
  const shapes::Square square{value};
  return square.area(3) + shapes::doubled(value) + exported(2);
}

}  // extern "C"
