"""What public training scripts print, and which step or epoch is read out of it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from cluster.worker_host import LogLine

from autoscaler.restart_costs.numbered_lines import NumberedLine, numbered

AT = datetime(2026, 11, 22, tzinfo=UTC)


def read(text: str) -> NumberedLine | None:
    return numbered(LogLine(at=AT, process_id="job-1-0", stream="stdout", text=text))


def told(text: str) -> str:
    """`e3/10 i340/5000`: the epoch and what is counted beside it."""
    line = read(text)
    counts = (
        () if line is None else (("e", line.epoch), (line.inner and line.inner.unit[0], line.inner))
    )
    return " ".join(
        f"{letter}{count.value:g}" + (f"/{count.total:g}" if count.total else "")
        for letter, count in counts
        if count
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # nanoGPT, minGPT, llm.c, nanochat
        ("iter 300: loss 2.3421, time 123.45ms, mfu 3.21%", "i300"),
        ("iter_dt 123.45ms; iter 100: train loss 2.51", "i100"),
        ("step 100/19560 | train loss 3.2 | norm 1.2 | lr 6e-04", "i100/19560"),
        ("step 00100/21400 (0.47%) | loss: 3.1 | tok/sec: 1,234,567", "i100/21400"),
        # PyTorch's examples: mnist, imagenet, word_language_model; torchvision's references
        ("Train Epoch: 3 [19200/60000 (32%)]\tLoss: 0.123456", "e3 c19200/60000"),
        ("Epoch: [3][ 340/5005]\tTime  0.250 ( 0.260)\tLoss 6.9e+00", "e3 c340/5005"),
        ("Epoch: [3]  [ 340/5005]  eta: 0:12:34  lr: 0.1  loss: 6.9", "e3 c340/5005"),
        ("| epoch   1 |   200/ 2928 batches | lr 5.00 | ms/batch 12.3", "e1 c200/2928"),
        # timm, mmcv, detectron2, fairseq, Megatron, DeepSpeed, torchtitan
        ("Train: 3 [ 340/1251 ( 27%)]  Loss: 6.92 (6.93)", "e3 c340/1251"),
        ("2024-05-05 12:00:01,123 - mmcv - INFO - Epoch [1][50/1000]\tlr: 2e-3", "e1 c50/1000"),
        ("[07/28 12:00:00 d2.utils.events]:  eta: 0:12:00  iter: 19  total_loss: 2.1", "i19"),
        ("2024-05-05 | INFO | train_inner | epoch 001:    100 / 3000 loss=9.1", "e1 c100/3000"),
        (
            " iteration      100/  500000 | consumed samples:  6400 | elapsed time per iteration",
            "i100/500000",
        ),
        ("[2023-01-02] [INFO] [logging.py:96:log_dist] [Rank 0] step=100, skipped=0", "i100"),
        ("\x1b[31mstep: \x1b[32m10  \x1b[39mloss: 12.2  memory:  3.1GiB", "i10"),
        # Hugging Face's Trainer, Lightning, torchtune, Keras, JSON, CleanRL
        ("{'loss': 0.69, 'grad_norm': 1.2, 'learning_rate': 4.9e-05, 'epoch': 0.32}", "e0.32"),
        ('{"epoch": 3, "step": 1200, "loss": 0.2}', "e3 i1200"),
        ("{'step': 12}", "i12"),
        (" 12%|█▏        | 340/5000 [00:34<07:54,  9.82it/s]", "i340/5000"),
        ("Epoch 3:  12%|█▏   | 340/2813 [00:12<01:20, 30.7it/s, v_num=0]", "e3 i340/2813"),
        ("1|340|Loss: 1.23:  12%|█▏   | 340/2813 [00:12<01:20, 30.7it/s]", "i340/2813"),
        ("Epoch 3/10", "e3/10"),
        ("global_step=1200, episodic_return=35.0", "i1200"),
        # Tutorials
        ("Epoch [1/5], Step [100/600], Loss: 0.1234", "e1/5 i100/600"),
        ("  batch 1000 loss: 0.32", "i1000"),
        ("EPOCH 3:", "e3"),
        ("it 40", "i40"),
        ("step 1,200 of 5,000", "i1200/5000"),
    ],
)
def test_steps_and_epochs_are_read(text: str, expected: str) -> None:
    assert told(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Num Epochs = 3",
        "  Total optimization steps = 5000",
        "max_steps 5000, num_epoch 3, warmup_steps: 100",
        "batch size 64, step_size 30, iter_dt 12.5",
        "step 0.5 of the way",
        "took 12.3s/it, 40 it/s",
        "step 12s",
        "iteration time 40",
        "Downloading: 12%|█▏   | 52.4M/268M [00:12<01:20, 4.1MB/s]",
        "  0%|          | 0/5000 [00:00<?, ?it/s]",  # opened, nothing done
        "340/5000",
        "loss 0.25, epochs: 10",
        "",
    ],
)
def test_other_numbers_are_left_alone(text: str) -> None:
    assert told(text) == ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("iter 300: loss 2.3421", "iter 1300: loss nan"),
        ("2024-05-05 12:00:01,123 INFO step 12", "2024-05-06 01:10:11,456 INFO step 9000"),
        (
            "{'loss': 0.69, 'grad_norm': nan, 'epoch': 0.3}",
            "{'loss': 1e-3, 'grad_norm': 1, 'epoch': 2.0}",
        ),
        (" 12%|█▏   | 340/5000 [00:34<07:54]", "100%|█████| 4999/5000 [1:00:34<00:01]"),
        ("[rank0]: step 12", "[rank0]: step 13"),
    ],
)
def test_lines_that_count_alike_have_one_shape(one: str, other: str) -> None:
    lines = read(one), read(other)
    assert lines[0]
    assert lines[1]
    assert lines[0].shape == lines[1].shape


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("step 250: train loss 2.5", "iter 250: loss 2.5"),
        ("Saved a checkpoint at step 250", "step 250"),
        ("[rank0]: step 12", "[rank1]: step 12"),
        ("Validating: 12%|█▏   | 34/50 [00:34<07:54]", " 12%|█▏   | 34/50 [00:34<07:54]"),
    ],
)
def test_lines_that_count_something_else_have_another_shape(one: str, other: str) -> None:
    lines = read(one), read(other)
    assert lines[0]
    assert lines[1]
    assert lines[0].shape != lines[1].shape


def test_what_is_shown_of_a_line_is_short_and_plain() -> None:
    shown = [
        read(text)
        for text in ("\x1b[2J{'step': 12, 'x': 1}", "Epoch 3:  12%|█▏ | 34/50 [00:34<1:0]")
    ]
    assert [line and line.shown for line in shown] == ["step: 12", "Epoch 3: 12% 34/50"]


@pytest.mark.parametrize(
    "text", ["epoch " * 5000, "%|" * 9000, "1," * 9000, "step [[[[[" * 900, "9" * 99]
)
def test_a_hostile_line_costs_nothing(text: str) -> None:
    assert told(text) == ""
