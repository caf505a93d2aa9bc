import { OutputError } from '../contract/errors.ts';
import type { Downloads, OutputFiles, Outputs } from '../contract/ports.ts';
import { Semaphore } from '../ground/semaphore.ts';

const atOnce = 16;

export function fetchHere(downloads: Downloads, saved: OutputFiles): Outputs {
  const places = new Semaphore(atOnce);
  return {
    async fetch(target, { url }, { signal }) {
      const answer = await downloads.open(url, signal);
      if (answer.is !== 'open') return answer;
      try {
        return { is: 'saved', output: await places.use(() => saved.save(target, answer.download)) };
      } catch (error) {
        if (!(error instanceof OutputError) || error.why !== 'bad-bytes') throw error;
        return { is: 'bad-bytes', message: error.message };
      }
    },
    relocate: (target, from, choices) => places.use(() => saved.relocate(target, from, choices)),
    measure: (output, aspects) => saved.measure(output, aspects),
  };
}
