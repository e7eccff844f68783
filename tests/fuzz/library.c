/* The library of the ELF target's seeds: small functions of several shapes, and an inlined call. */
struct pair {
  int a, b;
};

static inline __attribute__((always_inline)) int add(int a, int b) { return a + b; }

__attribute__((noinline)) int leaf(struct pair *p) { return add(p->a, p->b) * 3; }

__attribute__((noinline)) static int hidden(struct pair *p, int n) {
  int room[16];
  for (int i = 0; i < 16; ++i) room[i] = leaf(p) + i * n;
  return room[n & 15];
}

int outer(int n) {
  struct pair p = {n, n + 1};
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += hidden(&p, i);
  return sum;
}
