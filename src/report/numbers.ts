/** A number of credits, with thousands separated by a narrow space from 10,000 on; unknown is `?`, never 0. */
export function creditsText(credits: number | null): string {
  if (credits === null) return '?';
  const digits = String(credits);
  return Math.abs(credits) < 10_000 ? digits : digits.replace(/\B(?=(\d{3})+$)/g, '\u202f');
}

/** A difference: `+24`, `-6`. */
export function signedText(credits: number): string {
  return credits > 0 ? `+${creditsText(credits)}` : creditsText(credits);
}

/** The price of a row: what is certain, else `≈ 3` as it is expected, else `?`. */
export function priceText({ credits, price }: { credits: number | null; price?: { likely?: number } }): string {
  return credits === null && price?.likely !== undefined ? `≈ ${creditsText(price.likely)}` : creditsText(credits);
}

/** `1 step`, `12 steps`. */
export function countOf(count: number, noun: string): string {
  return `${creditsText(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** `0:41`, `1:02:03`. */
export function elapsedText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const two = (value: number) => String(value).padStart(2, '0');
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/** `812 B`, `1.2 MB`: powers of 1000. */
export function bytesText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  let value = bytes / 1000;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}
