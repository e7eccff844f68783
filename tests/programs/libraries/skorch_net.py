"""skorch: a classifier of scikit-learn's kind."""
import sys

import skorch
import torch
from torchvision import datasets, transforms

import clock
import material

clock.watch(transforms.RandomResizedCrop, transforms.Normalize)


class Count(skorch.callbacks.Callback):
    batches = samples = 0

    def on_batch_end(self, net, batch=None, training=None, **_):
        Count.batches += 1
        Count.samples += len(batch[0])


class Net(torch.nn.Sequential):
    def __init__(self):
        super().__init__(torch.nn.Conv2d(3, 4, 7, 4), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(4, 4))


def main():
    torch.manual_seed(1)
    transform = transforms.Compose([transforms.RandomResizedCrop(128), transforms.ToTensor(),
                                    transforms.Normalize([0.5] * 3, [0.25] * 3)])
    data = datasets.ImageFolder(material.photos(sys.argv[1]), transform)
    net = skorch.NeuralNetClassifier(Net, criterion=torch.nn.CrossEntropyLoss, max_epochs=2, batch_size=8, train_split=None,
                                     iterator_train__num_workers=2, callbacks=[Count()], verbose=0, classes=range(4))
    net.fit(data, y=None)
    clock.ends(Count.batches, Count.samples)


if __name__ == "__main__":
    main()
