/**
 * Tells what a create was charged by the balance before it and after it, where nothing else of this account was on the
 * wire meanwhile, as far as it is known here. Others may use the account, too.
 */
export class BalanceWatch {
  /** After the newest answer; unknown once something may have been charged since. */
  #balance: number | undefined;
  readonly #onWire = new Set<string>();
  /** Whether any of those on the wire had company. */
  #isShared = false;
  /** The create that is on the wire alone, and the balance before it. */
  #alone: { name: string; before: number } | undefined;

  /** `isAsked`: it asks for the answer of an earlier create, which may have been charged long ago. */
  left(name: string, { isAsked }: { isAsked: boolean }): void {
    this.#isShared = this.#onWire.size > 0;
    this.#onWire.add(name);
    const before = this.#balance;
    this.#alone = this.#isShared || isAsked || before === undefined ? undefined : { name, before };
  }

  /** Takes the balance after a create that is on the wire. Returns by how much it fell; `undefined`: nobody knows. */
  answered(name: string, balance: number | null): number | undefined {
    const fall = this.#alone?.name === name && balance !== null ? this.#alone.before - balance : undefined;
    this.#alone = undefined;
    // The next one may leave before this one is recorded.
    this.#onWire.delete(name);
    // Of answers to creates side by side the lowest is the newest.
    const lowest = this.#isShared ? (this.#balance ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY;
    this.#balance = balance === null ? undefined : Math.min(balance, lowest);
    return fall;
  }

  /** `isAnswered`: what it was charged is in the balance. */
  returned(name: string, { isAnswered }: { isAnswered: boolean }): void {
    if (!this.#onWire.delete(name) || isAnswered) return;
    this.#alone = undefined;
    this.#balance = undefined;
  }
}
