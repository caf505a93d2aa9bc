/** A call that waits for its answer. */
interface HeldCall<Args extends readonly unknown[], Answer> {
  args: Args;
  answer(value: Answer): void;
  fail(error: unknown): void;
}

/** A port that holds back its answers: a test lets something else happen, and then gives them, in whatever order. */
export class Held<Args extends readonly unknown[], Answer> {
  readonly calls: HeldCall<Args, Answer>[] = [];

  readonly call = (...args: Args): Promise<Answer> =>
    new Promise((resolve, reject) => {
      this.calls.push({ args, answer: resolve, fail: reject });
    });

  /** The call of this number, from 0, which has to have come. */
  at(index: number): HeldCall<Args, Answer> {
    const call = this.calls[index];
    if (call === undefined) throw new Error(`no call ${index}: there were ${this.calls.length}`);
    return call;
  }
}

/** Lets everything happen that waits for nothing but its turn. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}
