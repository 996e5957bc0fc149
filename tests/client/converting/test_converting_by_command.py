"""Does a converted job go on to the service as it comes from the command line?"""

from __future__ import annotations

from pathlib import Path

import yaml

from tests.client.command_line import CommandLine
from tests.client.converting.test_converting import BATCH_SCRIPT

SCRIPT = "#SBATCH -J nightly -n 2 --gpus-per-task=1 --qos=high\ncd /tmp\nsrun python train.py\n"


def test_a_batch_script_becomes_a_job_file_and_what_it_cannot_say_is_told_beside(
    concertina: CommandLine, tmp_path: Path
) -> None:
    (tmp_path / "train.sbatch").write_text(SCRIPT)
    ending = concertina("convert", str(tmp_path / "train.sbatch"))
    assert "Not carried over:\n  --qos=high: Teams have quotas here" in ending.err
    assert "  srun: Each worker is started by the platform" in ending.err
    file = tmp_path / "job.yaml"
    file.write_text(ending.out)
    assert yaml.safe_load(ending.out)["command"][2] == "cd /tmp\npython train.py\n"
    assert concertina("validate", "-f", str(file)).exit_code == 0


def test_tabs_of_a_script_reach_the_job_file(concertina: CommandLine) -> None:
    script = "#SBATCH -n 1\ncat > a <<-END\n\tb: 1\n\tEND\npython a.py\n"
    out = concertina("convert", "-", stdin=script).out
    assert yaml.safe_load(out)["command"][2] == "cat > a <<-END\n\tb: 1\n\tEND\npython a.py\n"


def test_a_program_gets_spec_and_remarks(concertina: CommandLine) -> None:
    document = concertina("convert", "-", "-o", "json", stdin=BATCH_SCRIPT).document
    assert document["spec"]["name"] == "resnet-50"
    assert document["remarks"][0]["fate"] == "changed"


def test_what_is_none_of_them_is_refused(concertina: CommandLine) -> None:
    ending = concertina("convert", "-", stdin="a: 1")
    assert ending.exit_code == 2
    assert "--from slurm" in ending.err
