/** Priority queue of numbers, smallest time first; in arrays of a fixed size, for simulations with tens of thousands of entries. */
export class NumberHeap {
  readonly #ats: Float64Array;
  readonly #ids: Int32Array;
  #size = 0;

  constructor(most: number) {
    this.#ats = new Float64Array(most + 1);
    this.#ids = new Int32Array(most + 1);
  }

  /** -1: none. */
  get first(): number {
    return this.#size === 0 ? -1 : (this.#ids[0] ?? -1);
  }

  get firstAt(): number {
    return this.#ats[0] ?? 0;
  }

  clear(): void {
    this.#size = 0;
  }

  push(at: number, id: number): void {
    const [ats, ids] = [this.#ats, this.#ids];
    let index = this.#size;
    this.#size += 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = ats[parent] ?? 0;
      if (above <= at) break;
      ats[index] = above;
      ids[index] = ids[parent] ?? 0;
      index = parent;
    }
    ats[index] = at;
    ids[index] = id;
  }

  /** -1: none. */
  pop(): number {
    if (this.#size === 0) return -1;
    const [ats, ids] = [this.#ats, this.#ids];
    const first = ids[0] ?? -1;
    this.#size -= 1;
    const size = this.#size;
    const at = ats[size] ?? 0;
    const id = ids[size] ?? 0;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= size) break;
      if (child + 1 < size && (ats[child + 1] ?? 0) < (ats[child] ?? 0)) child += 1;
      const below = ats[child] ?? 0;
      if (below >= at) break;
      ats[index] = below;
      ids[index] = ids[child] ?? 0;
      index = child;
    }
    ats[index] = at;
    ids[index] = id;
    return first;
  }
}
