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
    items.push({ at, item });
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!this.#isBefore(index, parent)) break;
      this.#swap(index, parent);
      index = parent;
    }
  }

  pop(): Item | undefined {
    const items = this.#items;
    const [first] = items;
    const last = items.pop();
    if (first === undefined || last === undefined) return undefined;
    if (items.length > 0) {
      items[0] = last;
      for (let index = 0; ; ) {
        const [left, right] = [2 * index + 1, 2 * index + 2];
        let least = index;
        if (left < items.length && this.#isBefore(left, least)) least = left;
        if (right < items.length && this.#isBefore(right, least)) least = right;
        if (least === index) break;
        this.#swap(index, least);
        index = least;
      }
    }
    return first.item;
  }

  #isBefore(a: number, b: number): boolean {
    return (this.#items[a]?.at ?? 0) < (this.#items[b]?.at ?? 0);
  }

  #swap(a: number, b: number): void {
    const [one, other] = [this.#items[a], this.#items[b]];
    if (one === undefined || other === undefined) return;
    this.#items[a] = other;
    this.#items[b] = one;
  }
}
