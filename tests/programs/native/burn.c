// A function that computes for some time, under the name FUNCTION: so that libraries of one layout differ by names.
long FUNCTION(long rounds) {
  long value = rounds;
  for (long i = 0; i < rounds; ++i) value = value * 6364136223846793005L + i;
  return value;
}
