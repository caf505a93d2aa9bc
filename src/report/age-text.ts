/** A duration in its largest unit: `20 s`, `5 min`, `3 h`, `12 d`. For ages, where more detail would be noise. */
export function spanText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 2 * 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** Age of a service time; `?` for an invalid time, and `0 s` for one ahead of this clock. */
export function ageText(time: string | undefined, now: number): string {
  const at = time === undefined ? Number.NaN : Date.parse(time);
  return Number.isNaN(at) ? '?' : spanText(now - at);
}
