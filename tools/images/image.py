"""What is one image, and is the one that Docker has still made of the same things?"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from local_stack.containers import image_names

from tools.images import engine
from tools.images.contents import bytecode, libraries
from tools.images.contents.tree import Tree
from tools.images.project import revision

INPUTS_LABEL = "concertina.inputs"
_LAYER = "layer.tar"  # unpacked by ADD: many times faster than COPY of its files
PATH = "/usr/local/bin:/usr/bin"
ENVIRONMENT = {"PATH": PATH, "LANG": "C.UTF-8", "PYTHONUNBUFFERED": "1"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """An image that can be made of this machine's files."""

    name: str  # localhost/concertina-worker, say
    title: str  # one sentence, kept in the image's labels
    fill: Callable[[Tree], None]
    inputs: Callable[[], str]  # a digest of all that `fill` reads; fast
    user: str
    working_dir: str = "/"
    environment: Mapping[str, str] = field(default_factory=dict)
    command: tuple[str, ...] = ()
    volumes: tuple[str, ...] = ()
    on: Image | None = None  # the image it adds its files to; None: it stands alone

    @property
    def tag(self) -> str:
        return image_names.tag(self.name)


def ensure(image: Image, url: engine.Url = None) -> str:
    """Make the image unless Docker has it, made of the same inputs; return its tag."""
    if image.on is not None:
        ensure(image.on, url)
    inputs = image.inputs()
    found = engine.labels(url, image.tag)
    if found is None or found.get(INPUTS_LABEL) != inputs:
        make(image, inputs, url)
    return image.tag


def make(image: Image, inputs: str, url: engine.Url = None) -> None:
    """Make the image, whether there is one or not."""
    tree, changes = Tree(), _changes(image, inputs)
    image.fill(tree)
    if image.on is None:
        libraries.add(tree)
        bytecode.add(tree)
        engine.import_image(url, image.tag, changes, tree.write)
        return
    bytecode.add(tree)
    lines = (f"FROM {image.on.tag}", f"ADD {_LAYER} /", *changes)
    context = Tree()
    context.add_text("Dockerfile", "\n".join(lines) + "\n")
    context.add_bytes(_LAYER, tree.archive())
    engine.build_image(url, image.tag, context.write)


def _changes(image: Image, inputs: str) -> tuple[str, ...]:
    """What beside its files makes an image, as lines of a Dockerfile."""
    labels = {
        "org.opencontainers.image.title": image.name,
        "org.opencontainers.image.description": image.title,
        "org.opencontainers.image.licenses": "Apache-2.0",
        "org.opencontainers.image.version": image_names.VERSION,
        "org.opencontainers.image.revision": revision(),
        INPUTS_LABEL: inputs,
    }
    inherited = {} if image.on else ENVIRONMENT
    environment = {**inherited, **image.environment}
    return (
        *(f"LABEL {key}={json.dumps(value)}" for key, value in labels.items()),
        *(f"ENV {key}={json.dumps(value)}" for key, value in environment.items()),
        f"USER {image.user}",
        f"WORKDIR {image.working_dir}",
        *([f"VOLUME {json.dumps(image.volumes)}"] if image.volumes else []),
        *([f"CMD {json.dumps(image.command)}"] if image.command else []),
    )
