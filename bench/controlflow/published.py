"""What is public of the paper's numbers, and how its figures are made."""

PAPER = "C. Zhang et al., Cocktailer: Analyzing and Optimizing Dynamic Control Flow in Deep Learning, OSDI 2023"

# ms of a call of NASRNN, batch 64, on a V100, from the authors' tutorial.
NASRNN_MS = [("TorchScript", 108.87), ("TensorFlow", 323.82), ("JAX", 43.47), ("CocktailerBase", 65.87), ("Cocktailer", 25.38)]
NASRNN_BATCH = 64
UP_TO = "up to 8.2 times as fast as the fastest of the other systems"

# The workloads in the figures' order, with the kind of control flow and the batch sizes.
WORKLOADS = {"lstm": ("LSTM", "loop", (1, 64)), "nasrnn": ("NASRNN", "loop", (1, 64)), "attention": ("Attention", "loop", (1, 64)),
             "seq2seq": ("Seq2seq", "loop", (1, 64)), "blockdrop": ("BlockDrop", "branch", (1, 64)),
             "skipnet": ("SkipNet", "branch", (1,)), "rae": ("RAE", "recursion", (1,))}
RATES = (0, 25, 50, 75, 100)  # executed shares of figure 17, in percent
BARS_RATE = 50                # of the branches' bars in figures 2 and 16
EXAMPLES = ("seq2seq", "blockdrop", "rae")  # of figure 2
