import type { BookingService } from '../../rig/booking-service.ts';
import type { HistoryOracle } from './history-oracle.ts';
import { nameOf, type Slot, slotOf } from './history-slots.ts';
import type { Copy } from './working-copy.ts';

/** Somebody who looks at the accounts, and says what is true of every post that waits. */
export class PostPerson {
  readonly #copy: Copy;
  readonly #service: BookingService;
  readonly #oracle: HistoryOracle;
  readonly #posts: readonly Slot[];

  constructor(copy: Copy, given: { service: BookingService; oracle: HistoryOracle; posts: readonly Slot[] }) {
    this.#copy = copy;
    this.#service = given.service;
    this.#oracle = given.oracle;
    this.#posts = given.posts;
  }

  async decide(act: string): Promise<void> {
    for (const post of this.#posts) for (const name of post.names) await this.#resolve(post, name);
    if (this.#posts.length === 0) return;
    for (const { address, beside } of await this.#copy.plan()) {
      const post = this.#posts.find(({ names }) => names.includes(address));
      if (beside === undefined || post === undefined || (await this.#move(post, beside.address))) continue;
      await this.#oracle.watch(act, () => this.#copy.apply('--redo', address, '--publish'));
    }
  }

  /** Those of its creates of which nobody knows. */
  async #resolve(post: Slot, name: string): Promise<void> {
    for (let code = 0; code === 0; ) {
      // Those that this branch has sent come first.
      const out = [...this.#oracle.known(), ...this.#service.ledger].filter((job) => slotOf(job) === post.id);
      const lost = out.find((job) => !this.#oracle.isOnRecord(job));
      const truth = lost === undefined ? ['--not-spent'] : ['--job', lost.id, '--credits', '0'];
      code = (await this.#copy.resolve(name, ...truth)).code;
    }
  }

  /** True: it is out, and has its name back. */
  async #move(post: Slot, beside: string): Promise<boolean> {
    if (!this.#oracle.known().some((job) => slotOf(job) === post.id)) return false;
    const names = post.names.slice(0, -1).sort((a, b) => Number(b === beside) - Number(a === beside));
    for (const name of names) {
      if ((await this.#copy.run('move', this.#copy.manifest, name, nameOf(post))).code === 0) return true;
    }
    return false;
  }
}
