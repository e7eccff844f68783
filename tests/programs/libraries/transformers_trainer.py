"""Transformers: Trainer with a dataset of datasets, tokenized as it is read."""
import sys

import torch
import transformers
from datasets import Dataset

import clock
import material


class Model(torch.nn.Module):
    batches = samples = 0

    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(128, 8)
        self.head = torch.nn.Linear(8, 2)

    def forward(self, ids, labels):
        Model.batches += 1
        Model.samples += len(ids)
        logits = self.head(self.embedding(ids).mean(1))
        return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}


def encode(rows):
    start = clock.now()
    clock.busy(300 * len(rows["text"]))
    rows = {"ids": [[sum(word.encode()) % 128 for word in text.split()] for text in rows["text"]], "labels": rows["labels"]}
    clock.tell("encode", start)
    return rows


def main():
    texts = material.texts()
    rows = Dataset.from_dict({"text": texts, "labels": [number % 2 for number in range(len(texts))]}).with_transform(encode)
    torch.manual_seed(1)
    options = transformers.TrainingArguments(sys.argv[1] + "/trainer", num_train_epochs=2, per_device_train_batch_size=16,
                                             dataloader_num_workers=2, report_to=[], save_strategy="no", disable_tqdm=True,
                                             remove_unused_columns=False, use_cpu=True, seed=1, logging_strategy="no")
    trained = transformers.Trainer(Model(), options, train_dataset=rows).train()
    clock.ends(Model.batches, Model.samples, trained.training_loss)


if __name__ == "__main__":
    transformers.logging.set_verbosity_error()
    main()
