import type { ServerResponse } from 'node:http';
import type { ReviewChange } from '../../contract/review.ts';
import { safeHeaders } from './answer.ts';

/**
 * Maximum number of event streams. Beyond it, the oldest is closed: a live page reconnects, an abandoned tab may not.
 */
const mostListeners = 16;
/** Heartbeat interval in ms, so that tunnels do not close an idle connection. */
const beatEveryMs = 15_000;

/** Notifies open pages of changes by Server-Sent Events. */
export class Changes {
  readonly #open = new Set<ServerResponse>();
  readonly #timer: NodeJS.Timeout;

  constructor() {
    this.#timer = setInterval(() => this.#write(': \n\n'), beatEveryMs).unref();
  }

  add(response: ServerResponse, revision: number): void {
    response.writeHead(200, {
      ...safeHeaders,
      'Content-Type': 'text/event-stream; charset=utf-8',
      Connection: 'close',
    });
    if (response.req.method === 'HEAD') {
      response.end();
      return;
    }
    for (const oldest of this.#open) {
      if (this.#open.size < mostListeners) break;
      this.#open.delete(oldest);
      oldest.end();
    }
    this.#open.add(response);
    response.on('close', () => this.#open.delete(response));
    response.write(`retry: 2000\n${eventOf({ revision })}`);
  }

  get isHeard(): boolean {
    return this.#open.size > 0;
  }

  /** Sends a change to all pages. If only a revision is sent, pages with an earlier one load everything. */
  tell(change: ReviewChange | { revision: number }): void {
    this.#write(eventOf(change));
  }

  close(): void {
    clearInterval(this.#timer);
    for (const response of this.#open) response.end();
    this.#open.clear();
  }

  #write(text: string): void {
    for (const response of this.#open) response.write(text);
  }
}

function eventOf(change: ReviewChange | { revision: number }): string {
  return `event: change\ndata: ${JSON.stringify(change)}\n\n`;
}
