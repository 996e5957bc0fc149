/** How is asked again and again while somebody types? One at a time, and the newest answer counts. */

type Later = (work: () => void, milliseconds: number) => () => void;

const SETTLED_MILLISECONDS = 600; // since the last change

const byTimer: Later = (work, milliseconds) => {
  const timer = window.setTimeout(work, milliseconds);
  return () => {
    window.clearTimeout(timer);
  };
};

export class NewestAnswer<Question, Answer> {
  readonly #send: (question: Question) => Promise<Answer>;
  readonly #onAnswer: (question: Question, answer: Answer | null, error: unknown) => void;
  readonly #later: Later;
  #stopWaiting: () => void = () => undefined;
  #isUnderWay = false;
  #next: { readonly question: Question } | null = null;
  #isOver = false;

  constructor(
    send: (question: Question) => Promise<Answer>,
    onAnswer: (question: Question, answer: Answer | null, error: unknown) => void,
    later: Later = byTimer,
  ) {
    this.#send = send;
    this.#onAnswer = onAnswer;
    this.#later = later;
  }

  /** Ask this a moment from now, unless something else is asked first. */
  ask(question: Question): void {
    this.#isOver = false;
    this.#stopWaiting();
    this.#stopWaiting = this.#later(() => {
      this.#next = { question };
      this.#goOn();
    }, SETTLED_MILLISECONDS);
  }

  /** No answer is told any more, until something is asked again. */
  stop(): void {
    this.#isOver = true;
    this.#next = null;
    this.#stopWaiting();
  }

  #goOn(): void {
    const next = this.#next;
    if (this.#isUnderWay || next === null) return;
    this.#next = null;
    this.#isUnderWay = true;
    const told = (answer: Answer | null, error: unknown) => {
      this.#isUnderWay = false;
      if (this.#next === null && !this.#isOver) this.#onAnswer(next.question, answer, error);
      this.#goOn();
    };
    this.#send(next.question).then(
      (answer) => {
        told(answer, null);
      },
      (error: unknown) => {
        told(null, error);
      },
    );
  }
}
