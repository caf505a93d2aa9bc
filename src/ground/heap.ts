/** Priority queue, smallest item first. */
export class Heap<Item> {
  readonly #items: { at: number; item: Item }[] = [];

  get size(): number {
    return this.#items.length;
  }

  get firstAt(): number {
    return this.#items[0]?.at ?? Number.POSITIVE_INFINITY;
  }

  clear(): void {
    this.#items.length = 0;
  }

  push(at: number, item: Item): void {
    const items = this.#items;
    let index = items.length;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = items[parent];
      if (above === undefined || above.at <= at) break;
      items[index] = above;
      index = parent;
    }
    items[index] = { at, item };
  }

  pop(): Item | undefined {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (first === undefined || last === undefined || first === last) return first?.item;
    let index = 0;
    for (;;) {
      const [left, right] = [2 * index + 1, 2 * index + 2];
      const least = this.#atOf(right) < this.#atOf(left) ? right : left;
      const below = items[least];
      if (below === undefined || below.at >= last.at) break;
      items[index] = below;
      index = least;
    }
    items[index] = last;
    return first.item;
  }

  #atOf(index: number): number {
    return this.#items[index]?.at ?? Number.POSITIVE_INFINITY;
  }
}
