"""PyTorch Geometric: graphs with transforms, in its DataLoader."""
import torch
import torch_geometric.transforms as T
from torch_geometric.data import Data, Dataset
from torch_geometric.loader import DataLoader

import clock

clock.watch(T.Distance, T.RandomJitter)


class Clouds(Dataset):
    def __init__(self):
        super().__init__(transform=T.Compose([T.RandomJitter(0.01), T.Distance()]))
        self.clouds = [Data(pos=torch.rand(200, 3), edge_index=torch.randint(200, (2, 2000))) for _ in range(96)]

    def len(self):
        return len(self.clouds)

    def get(self, index):
        return self.clouds[index].clone()


def main():
    torch.manual_seed(1)
    clock.train(DataLoader(Clouds(), batch_size=8, num_workers=2), lambda batch: batch.num_graphs)


if __name__ == "__main__":
    main()
