import { useEffect, useRef } from 'preact/hooks';

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
    // If a picture is unreadable, its tile shows the error.
    image.decode().catch(() => undefined);
  }
  return ready;
}
