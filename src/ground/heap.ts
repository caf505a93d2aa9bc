/** Priority queue, smallest key first. */
export class Heap<Item, Key> {
  readonly #items: { at: Key; item: Item }[] = [];
  readonly #compare: (a: Key, b: Key) => number;

  constructor(compare: (a: Key, b: Key) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#items.length;
  }

  get firstAt(): Key | undefined {
    return this.#items[0]?.at;
  }

  clear(): Item[] {
    return this.#items.splice(0).map(({ item }) => item);
  }

  push(at: Key, item: Item): void {
    const items = this.#items;
    let index = items.length;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = items[parent];
      if (above === undefined || this.#compare(above.at, at) <= 0) break;
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
      const [left, right] = [items[2 * index + 1], items[2 * index + 2]];
      const isRight = left !== undefined && right !== undefined && this.#compare(right.at, left.at) < 0;
      const below = isRight ? right : left;
      if (below === undefined || this.#compare(below.at, last.at) >= 0) break;
      items[index] = below;
      index = 2 * index + (isRight ? 2 : 1);
    }
    items[index] = last;
    return first.item;
  }
}
