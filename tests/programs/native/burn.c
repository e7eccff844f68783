// A function named FUNCTION that computes for some time. Libraries made of it differ only in that name.
long FUNCTION(long rounds) {
  long value = rounds;
  for (long i = 0; i < rounds; ++i) value = value * 6364136223846793005L + i;
  return value;
}
