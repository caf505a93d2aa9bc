/** Number of charges beyond which one more makes no difference. */
const mostMet = 20;

/**
 * How many creates of a price class may be on their way: 1, 2, 4, … with each charge that meets its
 * reservation, and 1 again after one that does not. Prices may have risen since they were charged, and a lock that came
 * with a branch may name any.
 */
export class Ramp {
  /** Charges in a row that met their reservations, by price class. */
  readonly #met = new Map<string, number>();
  /** Number of creates whose charge is not known yet, by price class. */
  readonly #flying = new Map<string, number>();

  left(name: string): void {
    this.#flying.set(name, (this.#flying.get(name) ?? 0) + 1);
  }

  returned(name: string): void {
    const count = (this.#flying.get(name) ?? 0) - 1;
    if (count > 0) this.#flying.set(name, count);
    else this.#flying.delete(name);
  }

  /** Whether a create of this class may go: of classes that no charge has borne out, one goes at a time. */
  admits(name: string): boolean {
    const met = this.#metBy(name);
    if (met === 0) return [...this.#flying.keys()].every((other) => this.#metBy(other) > 0); // I14 (trial)
    return (this.#flying.get(name) ?? 0) < 2 ** met; // I14 (ramp)
  }

  /** Takes in a charge. `proves`: the service itself said so. One told by nobody, or by a balance, meets nothing. */
  note(
    name: string,
    { reserved, charged, proves }: { reserved: number | null; charged: number | null; proves: boolean },
  ): void {
    if (charged !== null && reserved !== null && charged > reserved) this.#met.delete(name);
    else if (proves && reserved !== null) this.#met.set(name, Math.min(mostMet, this.#metBy(name) + 1));
  }

  #metBy(name: string): number {
    return this.#met.get(name) ?? 0;
  }
}
