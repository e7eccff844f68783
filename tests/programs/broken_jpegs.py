"""Thousands of damaged photographs: on an error, libjpeg leaves its functions by a longjmp."""
import collections
import io
import random
import zlib

from PIL import Image, ImageFile
from torch.utils.data import DataLoader, Dataset

import support
import truth


class Damaged(Dataset):
    """Photographs with changed or missing bytes; a sample tells how far Pillow got, and the result."""

    def __init__(self, paths, count):
        self.files = []
        for path in paths[:8]:
            file = io.BytesIO()
            Image.open(path).resize((64, 48)).save(file, "jpeg")
            self.files.append(file.getvalue())
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        chance = random.Random(index)
        data = bytearray(self.files[index % len(self.files)])
        for _ in range(chance.randrange(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        if index % 3 == 0:
            del data[chance.randrange(len(data)):]
        stage = "unknown"
        try:
            image = Image.open(io.BytesIO(data))
            stage = "opened" if image.tile else "refused"  # with newer versions of Pillow
            return f"whole {zlib.crc32(image.convert('L').tobytes())}"
        except Exception as error:
            return f"{stage} {type(error).__name__}"


def main():
    options = support.arguments(__doc__, count=6000)
    ImageFile.LOAD_TRUNCATED_IMAGES = False
    loader = DataLoader(Damaged(support.photographs(options.data), int(options.count)), batch_size=32,
                        num_workers=options.workers, collate_fn=list)
    for number, batch in enumerate(truth.watch(loader)):
        stages = collections.Counter(answer.split()[0] for answer in batch)
        support.show(number, batch, stages["opened"], stages["whole"])


if __name__ == "__main__":
    main()
