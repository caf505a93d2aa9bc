import type { JobEnd } from '../contract/answer.ts';
import type { Ports } from '../contract/ports.ts';

/** Ends all buying at a refused credential or an unreachable host, whichever step met it. */
export function stopFor(end: Extract<JobEnd, { is: 'unwatched' }>, { gate }: Pick<Ports, 'gate'>): void {
  switch (end.because) {
    case 'auth':
    case 'unreachable':
      gate.stop(end.because, end.error);
      return;
    case 'signal':
    case 'patience':
      return;
    default:
      end.because satisfies never;
  }
}
