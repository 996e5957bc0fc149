"""Handwritten digits with PyTorch Lightning, made elastic by a callback.

The lines that make it so are marked with `elastic`. It also runs alone:
`python lightning_digits.py`.
"""

from __future__ import annotations

import argparse
import signal
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytorch_lightning as lightning
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F  # noqa: N812 - everybody calls it so
from torch.utils.data import TensorDataset

import concertina_worker as elastic


class Digits(lightning.LightningModule):
    """An ordinary module: nothing here is elastic."""

    def __init__(self) -> None:
        super().__init__()
        self.network = nn.Sequential(
            nn.Flatten(), nn.Linear(64, 128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, 10)
        )

    def training_step(self, batch: list[torch.Tensor], _: int) -> torch.Tensor:
        images, labels = batch
        loss = F.cross_entropy(self.network(images), labels)
        self.log("loss", loss)
        return loss

    def configure_optimizers(self) -> Any:
        optimizer = torch.optim.Adam(self.parameters(), lr=0.002)
        return [optimizer], [torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.95)]


class Batches:
    """What Lightning takes for a data loader: this worker's batches, epoch by epoch."""

    def __init__(self, job: elastic.Job, dataset: TensorDataset, epochs: int, size: int) -> None:
        self._job, self._dataset, self._batch_size = job, dataset, size
        self._epochs = job.epochs(epochs)  # elastic

    def __len__(self) -> int:
        """At most: how many there will be depends on the number of workers."""
        return len(self._dataset)

    def __iter__(self) -> Iterator[Any]:
        for _ in islice(self._epochs, 1):  # none is left for the Trainer of a resumed job
            yield from self._job.batches(self._dataset, self._batch_size)  # elastic


class Elastic(lightning.Callback):
    """Hands over what Lightning has made, and passes on what it logs."""

    def __init__(self, job: elastic.Job) -> None:
        self._job = job
        self._on_sigterm = signal.getsignal(signal.SIGTERM)

    def on_train_start(self, trainer: lightning.Trainer, module: lightning.LightningModule) -> None:
        signal.signal(signal.SIGTERM, self._on_sigterm)  # Lightning's would break off the step
        schedulers = [settings.scheduler for settings in trainer.lr_scheduler_configs]
        self._job.register(module, trainer.optimizers, schedulers)  # elastic

    def on_train_batch_end(self, trainer: lightning.Trainer, *_: Any) -> None:
        self._job.log(loss=float(trainer.callback_metrics["loss"]))

    def on_train_epoch_end(self, trainer: lightning.Trainer, *_: Any) -> None:
        if self._job.is_main:
            loss, epoch = trainer.callback_metrics["loss"], trainer.current_epoch
            print(f"epoch {epoch + 1} loss {loss:.4f} workers {self._job.world_size}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--batch-size", type=int, default=32, help="when run alone")
    arguments = parser.parse_args()
    lightning.seed_everything(0, verbose=False)
    torch.set_num_threads(1)

    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32) / 16
    training = TensorDataset(images, torch.tensor(digits.target))
    job = elastic.init()  # elastic
    trainer = lightning.Trainer(
        accelerator=job.device.type.replace("cuda", "gpu"),
        devices=1,  # the platform owns the others
        max_epochs=arguments.epochs,
        callbacks=[Elastic(job)],
        gradient_clip_val=1.0,
        logger=False,
        enable_checkpointing=False,  # the platform keeps checkpoints
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(Digits(), Batches(job, training, arguments.epochs, arguments.batch_size))


if __name__ == "__main__":
    main()
