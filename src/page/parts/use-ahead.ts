import { useEffect, useRef } from 'preact/hooks';

/** Has these pictures read and decoded, so that a key shows them at once; what is seen now is asked for before. */
export function useAhead(urls: readonly (string | undefined)[]): void {
  const ready = useRef(new Map<string, HTMLImageElement>());
  useEffect(() => {
    let frame = requestAnimationFrame(function read() {
      if (isSeen()) ready.current = readAhead(urls, ready.current);
      else frame = requestAnimationFrame(read);
    });
    return () => cancelAnimationFrame(frame);
  });
}

/** Whether what is active is in the page, with its pictures. */
function isSeen(): boolean {
  const active = document.querySelector('.active[data-address]');
  return active !== null && [...active.querySelectorAll('img')].every((image) => image.complete);
}

function readAhead(
  urls: readonly (string | undefined)[],
  before: ReadonlyMap<string, HTMLImageElement>,
): Map<string, HTMLImageElement> {
  const ready = new Map<string, HTMLImageElement>();
  for (const url of urls) {
    if (url === undefined) continue;
    const image = before.get(url) ?? new Image();
    ready.set(url, image);
    if (image.src !== '') continue;
    image.fetchPriority = 'low';
    image.src = url;
    // One that cannot be read says so where it is shown.
    image.decode().catch(() => undefined);
  }
  return ready;
}
