import { orderId, type StepOrder } from '../plan/plan.ts';
import { accountsOf, isPost, mayMeet, type PostAccounts } from '../plan/posts/post-record.ts';
import type { StepEnd } from '../run/step-end.ts';

interface Post {
  order: StepOrder;
  to: PostAccounts;
}

interface Acts {
  start(order: StepOrder): void;
  leave(order: StepOrder, why: string): void;
}

/**
 * Schedules posts last, because a post cannot be undone: all other steps end first, except steps that wait for a post.
 * Posts to one social account are sent one after another. While the outcome of a post is unknown, no other post to its
 * social accounts is sent.
 */
export class PostsLast {
  readonly #acts: Acts;
  /** Ids of orders that must end before posts start. */
  readonly #before = new Set<string>();
  /** Addresses of posts and of orders that wait for a post. */
  readonly #after = new Set<string>();
  /** Posts that were sent and may be published, by order id. `isOver`: this run cannot learn whether they are. */
  readonly #uncertain = new Map<string, Post & { isOver: boolean }>();
  #held: Post[] = [];
  #isOpen = false;

  /** `orders`: in topological order. */
  constructor(orders: ReadonlyMap<string, StepOrder>, acts: Acts) {
    this.#acts = acts;
    if ([...orders.values()].some(({ kind }) => isPost(kind))) for (const order of orders.values()) this.#sort(order);
  }

  ready(order: StepOrder): void {
    if (isPost(order.kind)) this.#held.push(postOf(order));
    else this.#acts.start(order);
    this.#sendPosts();
  }

  ended(order: StepOrder, { outcome }: StepEnd): void {
    const id = orderId(order);
    this.#before.delete(id);
    if (outcome === 'unresolved' && isPost(order.kind)) this.#uncertain.set(id, { ...postOf(order), isOver: true });
    else this.#uncertain.delete(id);
    this.#sendPosts();
  }

  /** Call this after the dependencies of the order were added. */
  expect(order: StepOrder): void {
    this.#release(orderId(order));
    this.#sort(order);
  }

  withdraw(id: string): void {
    this.#before.delete(id);
    this.#release(id);
    this.#sendPosts();
  }

  /** Lets posts start. Call this after `ready` was called for every order that can start. */
  release(): void {
    this.#isOpen = true;
    this.#sendPosts();
  }

  #sort(order: StepOrder): void {
    const isAfter = isPost(order.kind) || order.needs.some((address) => this.#after.has(address));
    if (isAfter) this.#after.add(order.address);
    else this.#before.add(orderId(order));
  }

  #release(id: string): void {
    this.#held = this.#held.filter(({ order }) => orderId(order) !== id);
    this.#uncertain.delete(id);
  }

  #sendPosts(): void {
    if (this.#before.size > 0 || !this.#isOpen) return;
    const waiting = this.#held;
    this.#held = [];
    const stay = waiting.filter((post) => !this.#send(post));
    this.#held = [...stay, ...this.#held];
  }

  /** Starts or skips a post. Returns false if another post to the same social account must end first. */
  #send({ order, to }: Post): boolean {
    const isSent = order.jobId !== undefined || order.sharesJobOf !== undefined;
    const known = isSent ? [] : [...this.#uncertain.values()].filter((one) => mayMeet(one.to, to)); // I41 (run)
    const over = known.find(({ isOver }) => isOver);
    if (over === undefined && known.length > 0) return false;
    if (over !== undefined) {
      this.#acts.leave(order, `shares a social account with ${over.order.address}, which may be published already`);
      return true;
    }
    if (!isSent) this.#uncertain.set(orderId(order), { order, to, isOver: false });
    this.#acts.start(order);
    return true;
  }
}

function postOf(order: StepOrder): Post {
  return { order, to: accountsOf(order.request) };
}
