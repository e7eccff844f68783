"""fastai: a data block and a learner."""
import sys
import warnings

from fastai.vision.all import (SGD, Callback, CategoryBlock, DataBlock, ImageBlock, Learner, RandomResizedCrop, RandomSplitter,
                               get_image_files, nn, parent_label, set_seed)

import clock
import material

clock.watch(RandomResizedCrop)


class Count(Callback):
    batches = samples = 0

    def after_batch(self):
        Count.batches += 1
        Count.samples += len(self.xb[0])


def main():
    set_seed(1, True)
    block = DataBlock(blocks=(ImageBlock, CategoryBlock), get_items=get_image_files, get_y=parent_label,
                      splitter=RandomSplitter(0.25, seed=1), item_tfms=[RandomResizedCrop(128)])
    loaders = block.dataloaders(material.photos(sys.argv[1]), bs=8, num_workers=2, device="cpu")
    net = nn.Sequential(nn.Conv2d(3, 4, 7, 4), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 4))
    learner = Learner(loaders, net, loss_func=nn.CrossEntropyLoss(), cbs=[Count()], opt_func=SGD)
    with learner.no_bar(), learner.no_logging():
        learner.fit(2, 0.01)
    clock.ends(Count.batches, Count.samples)


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    main()
