"""Two networks against each other learn to draw digits: several backward passes in each step.

The lines that make the script elastic are marked with `elastic`. It also runs alone:
`python gan.py`. Both networks take their step together, from the weights they had before it
(Mescheder et al., 2017, "The Numerics of GANs": simultaneous gradient descent).
"""

from __future__ import annotations

import argparse

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F  # noqa: N812 - everybody calls it so
from torch.utils.data import TensorDataset

import concertina_worker as elastic

NOISE = 16


def load() -> TensorDataset:
    """The zeros among 1,797 digits of 8 x 8 pixels, flat."""
    digits = load_digits()
    pixels = torch.tensor(digits.data, dtype=torch.float32) / 16
    return TensorDataset(pixels[torch.tensor(digits.target) == 0])


def network(inputs: int, outputs: int) -> nn.Module:
    return nn.Sequential(nn.Linear(inputs, 64), nn.LeakyReLU(0.2), nn.Linear(64, outputs))


@torch.no_grad()
def distance(generator: nn.Module, real: torch.Tensor, device: torch.device) -> float:
    """Between the mean images of what is drawn and what is real, per pixel."""
    drawn = torch.sigmoid(generator(torch.randn(512, NOISE, device=device)))
    return float((drawn.mean(0).cpu() - real.mean(0)).abs().mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--batch-size", type=int, default=32, help="when run alone")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)

    training = load()
    job = elastic.init()  # elastic
    generator = network(NOISE, 64).to(job.device)
    critic = network(64, 1).to(job.device)
    generator_optimizer = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.999))
    critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.999))
    job.register([generator, critic], [generator_optimizer, critic_optimizer])  # elastic
    for epoch in job.epochs(arguments.epochs):  # elastic
        torch.manual_seed(1000 * epoch + job.rank)  # every worker draws from noise of its own
        for (real,) in job.batches(training, arguments.batch_size):  # elastic
            real = real.to(job.device)  # noqa: PLW2901
            drawn = torch.sigmoid(generator(torch.randn(len(real), NOISE, device=job.device)))
            doubt = F.softplus(-critic(real)).mean() + F.softplus(critic(drawn.detach())).mean()
            deceit = F.softplus(-critic(drawn)).mean()
            with job.step():  # elastic: these passes make up one step
                doubt.backward()
                deceit.backward(inputs=[*generator.parameters()])
            nn.utils.clip_grad_norm_(critic.parameters(), 5.0)
            critic_optimizer.step()
            generator_optimizer.step()
            critic_optimizer.zero_grad()
            generator_optimizer.zero_grad()
        far = job.mean(distance(generator, training.tensors[0], job.device))
        job.log(distance=far, loss=doubt.item())
        if job.is_main:
            print(f"epoch {epoch + 1} distance {far:.4f} workers {job.world_size}", flush=True)


if __name__ == "__main__":
    main()
