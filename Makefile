# One command file for people, hooks and CI. `make` alone lists what it can do.
.DEFAULT_GOAL := help
.PHONY: reproduce benchmark help set-up lint format contracts test quick demo up openapi lock hooks clean

BIN := .venv/bin

help: ## list these targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

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
	@./dev test tests/planning tests/service tests/client tests/architecture

demo: ## real jobs of two teams share this machine
	@./dev demo

up: ## the service without jobs
	@./dev up

reproduce: set-up ## replay the papers' experiments and write docs/reproduction.md; SCALE=--quick for a trial
	@$(BIN)/python -m benchmarks.reproduction $(SCALE)

benchmark: set-up ## how fast and how exact planning is: model, optimizer, whole plans, replays (minutes)
	@for name in throughput_fit optimizer decision_time simulation_speed; do \
	    echo "== benchmarks/$$name.py"; $(BIN)/python benchmarks/$$name.py || exit 1; done

openapi: ## write docs/openapi.yaml from the code, and the dashboard's types from that
	@DATABASE_URL=postgresql://nobody@/nothing REDIS_URL=unix:///nowhere CONCERTINA_SECRET_KEY=none \
	    $(BIN)/python manage.py spectacular --file docs/openapi.yaml
	@cd frontend && npm run --silent api-types

lock: ## pin every dependency anew; PyTorch is handled apart, see docs/decisions/0002
	@$(BIN)/uv pip compile pyproject.toml --extra dev --extra demo --extra examples --extra worker \
	    --universal --python-version 3.11 --no-annotate --no-header --quiet --no-emit-package torch \
	    --find-links "$$($(BIN)/python -m pip config get global.find-links 2>/dev/null || echo /nonexistent)" \
	    | grep -v -E '^(nvidia-[^m]|cuda-|triton)' > requirements.lock.part
	@mv requirements.lock.part requirements.lock

hooks: ## lint before every commit
	@$(BIN)/pre-commit install

clean: ## remove databases, logs and checkpoints of this checkout
	@./dev clean
