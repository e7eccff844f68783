"""SpeechBrain: a dataset of dynamic items, in its loader."""
import speechbrain.dataio.dataset
import torch
from speechbrain.dataio.dataloader import make_dataloader
from speechbrain.utils.data_pipeline import provides, takes

import clock
import material

WAVES = material.waves()


@takes("number")
@provides("signal")
def read(number):
    start = clock.now()
    clock.busy(500)
    signal = torch.from_numpy(WAVES[number])
    clock.tell("read", start)
    return signal


def main():
    rows = {str(number): {"number": number} for number in range(len(WAVES))}
    data = speechbrain.dataio.dataset.DynamicItemDataset(rows, dynamic_items=[read], output_keys=["id", "signal"])
    clock.train(make_dataloader(data, batch_size=8, num_workers=2), lambda batch: len(batch.id))


if __name__ == "__main__":
    main()
