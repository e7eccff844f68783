"""A program to run under pdb: the test gives it commands."""
import work


def stop_here(index):
    marker = index * 7
    return marker


def main():
    work.epoch(stop_here, workers=0, samples=4, name="debugged")
    work.end()


main()
