/** A sliding window: at most `creates` per user in any `perMs`. */
export class CreatesLimit {
  private readonly rule: { readonly creates: number; readonly perMs: number } | undefined;
  private readonly timesByUser = new Map<string, number[]>();

  constructor(rule: { readonly creates: number; readonly perMs: number } | undefined) {
    this.rule = rule;
  }

  /** Counts one create. Above 0: it is one too many, and this many seconds must pass before the next. */
  admit(user: string, now: number): number {
    if (this.rule === undefined) return 0;
    const { creates, perMs } = this.rule;
    const recent = (this.timesByUser.get(user) ?? []).filter((time) => time > now - perMs);
    this.timesByUser.set(user, recent);
    const [oldest = now] = recent;
    if (recent.length >= creates) return Math.max(1, Math.ceil((oldest + perMs - now) / 1000));
    recent.push(now);
    return 0;
  }
}
