"""A small GPT-2 learns to write Python with the Trainer of Hugging Face transformers, made elastic.

The lines that make it so are marked with `elastic`. Nothing is downloaded: the model begins with
random weights, the text is the standard library. Alone: `python transformers_trainer.py`.
"""

from __future__ import annotations

import argparse
import sysconfig
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import Dataset
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

import concertina_worker as elastic

LENGTH = 32


class Text(Dataset[dict[str, torch.Tensor]]):
    """Stretches of a source file, letter by letter."""

    def __init__(self, count: int) -> None:
        path = Path(sysconfig.get_paths()["stdlib"], "argparse.py")
        letters = torch.tensor(list(path.read_bytes()[: count * LENGTH])).clamp(max=127)
        self._stretches = letters.view(-1, LENGTH)

    def __len__(self) -> int:
        return len(self._stretches)

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        return {"input_ids": self._stretches[index], "labels": self._stretches[index]}


class Batches:
    """What the Trainer takes for a data loader: this worker's batches, epoch by epoch."""

    def __init__(self, job: elastic.Job, dataset: Text, arguments: TrainingArguments) -> None:
        self._job, self._dataset = job, dataset
        self._batch_size = arguments.per_device_train_batch_size
        self._epochs = job.epochs(int(arguments.num_train_epochs))  # elastic

    def __len__(self) -> int:
        """At most: how many there will be depends on the number of workers."""
        return len(self._dataset)

    def __iter__(self) -> Iterator[Any]:
        for _ in islice(self._epochs, 1):  # none is left for the Trainer of a resumed job
            yield from self._job.batches(self._dataset, self._batch_size)  # elastic


class ElasticTrainer(Trainer):
    """A Trainer whose batches are the platform's."""

    def __init__(self, job: elastic.Job, **settings: Any) -> None:
        super().__init__(**settings, callbacks=[Register(job)])
        self._job = job

    def get_train_dataloader(self) -> Any:
        return Batches(self._job, self.train_dataset, self.args)


class Register(TrainerCallback):
    """Hands over what the Trainer has made, and passes on what it logs."""

    def __init__(self, job: elastic.Job) -> None:
        self._job = job

    def on_train_begin(self, *_: Any, **trained: Any) -> None:
        optimizer = trained["optimizer"].optimizer  # the Trainer's is wrapped
        self._job.register(trained["model"], optimizer, trained["lr_scheduler"])  # elastic

    def on_log(self, *_: Any, logs: dict[str, float], **__: Any) -> None:
        if "loss" in logs:
            self._job.log(loss=logs["loss"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--samples", type=int, default=1024)
    parser.add_argument("--batch-size", type=int, default=32, help="when run alone")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)

    job = elastic.init()  # elastic
    config = GPT2Config(
        vocab_size=128, n_positions=LENGTH, n_embd=32, n_layer=2, n_head=2, resid_pdrop=0.0
    )
    settings = TrainingArguments(
        output_dir=tempfile.mkdtemp(),
        num_train_epochs=arguments.epochs,
        per_device_train_batch_size=arguments.batch_size,
        learning_rate=0.003,
        lr_scheduler_type="constant",
        logging_steps=10,
        save_strategy="no",  # the platform keeps checkpoints
        report_to="none",
        disable_tqdm=True,
        use_cpu=job.device.type == "cpu",
    )
    trainer = ElasticTrainer(
        job,
        model=GPT2LMHeadModel(config),
        args=settings,
        train_dataset=Text(arguments.samples),
    )
    trainer.train()


if __name__ == "__main__":
    main()
