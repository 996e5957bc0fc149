/** Does the api answer? A tiny store that every request reports to and the banner listens to. */

type Listener = () => void;

export class Connection {
  #isLost = false;
  readonly #listeners = new Set<Listener>();

  readonly isLost = (): boolean => this.#isLost;

  readonly subscribe = (listener: Listener): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  reportAnswer(status: number): void {
    this.#set(isAway(status));
  }

  reportSilence(): void {
    this.#set(true);
  }

  #set(isLost: boolean): void {
    if (isLost === this.#isLost) return;
    this.#isLost = isLost;
    for (const listener of this.#listeners) listener();
  }
}

/** Answers of a proxy whose service is away, not of the service itself. */
export function isAway(status: number): boolean {
  return status >= 502 && status <= 504;
}

export const connection = new Connection();
