/** One of so many jobs that were made one after the other speaks for all. */
const together = 10;

/** Which ranks (`ListPlaces`) the jobs of some numbers have: those of others lie between them. */
export class KnownRanks {
  /** In the order of their numbers. */
  #known: { number: number; rank: number }[] = [];

  note(number: number, rank: number): void {
    const at = this.#countBelow(firstOf(number));
    const isReplaced = at < this.#known.length && firstOf(this.#known[at]?.number ?? 0) === firstOf(number);
    this.#known.splice(at, isReplaced ? 1 : 0, { number, rank });
  }

  /** `newest`: the last of all. */
  guess(number: number, newest: { number: number; rank: number }): number {
    const at = this.#countBelow(number);
    const above = this.#known[at] ?? newest;
    const below = this.#known[at - 1];
    if (below === undefined || above.number <= below.number) return above.rank - (above.number - number);
    const share = (number - below.number) / (above.number - below.number);
    return Math.round(below.rank + share * (above.rank - below.rank));
  }

  /** How many of the known have a lower number. */
  #countBelow(number: number): number {
    let low = 0;
    let high = this.#known.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#known[middle]?.number ?? 0) < number) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function firstOf(number: number): number {
  return number - (number % together);
}
