import { batch, computed, effect, signal } from '@preact/signals';
import type { FunctionComponent } from 'preact';
import type { ReviewAsset, ReviewData, WantedVerdict } from '../../contract/review.ts';
import { defined } from '../../ground/values.ts';
import { madeElsewhere, newOutputs } from '../model/elsewhere.ts';
import { applyFilter, type Facet, type Filter, noFilter } from '../model/filter.ts';
import { decide, givenUp, puttingBack, type Step, undoOf } from '../model/judge.ts';
import { afterVerdict, type Direction, firstUndecided, moveByGroup, moveToUndecided, nearest } from '../model/moves.ts';
import { count, type Mark, markOf, numbersOf, type Shown, type ShownGroup, show, withChange } from '../model/shown.ts';
import { connection } from '../parts/media.tsx';
import { counted, credits as creditWords, listed, nameOf, sumOf } from '../parts/words.ts';
import type { Press } from '../press.ts';
import { SharedZoom } from '../zoom/shared-zoom.ts';
import { History } from './history.ts';
import type { Change, Host } from './host.ts';
import { keptVerdicts, Outbox, type Refusal } from './outbox.ts';

export type ViewName = 'groups' | 'loupe' | 'compare' | 'matrix' | 'grid' | 'changes';

/** View of the campaign, which shows `page.strips` and highlights `page.active`. */
export interface View {
  name: ViewName;
  label: string;
  /** Whether the view shows the active asset at another size. */
  size?: true;
  key?: string;
  /** Returns false if the view has nothing to show. The page then has no button for the view. */
  isOffered?(data: ReviewData): boolean;
  Component: FunctionComponent<{ page: Page }>;
  /** Returns the new active address after an arrow key. Undefined if the active asset stays the same. */
  move(page: Page, direction: Direction): string | undefined;
  /** Returns the new active address after a verdict. If undefined, the page chooses the address. */
  lead?(page: Page, address: string, is: Mark): string | undefined;
  /** Handles a key before the page handles it. Returns whether the view has handled the key. */
  onKey?(page: Page, press: Press): boolean;
}

export type KeyHelp = readonly [keys: string, what: string];

interface Offer {
  readonly views: readonly View[];
  readonly facets: readonly Facet[];
  readonly keys?: readonly KeyHelp[];
}

export class Page {
  readonly data;
  offer: Offer;
  readonly outbox: Outbox;
  readonly filter = signal<Filter>(noFilter);
  /** Address of the active asset, to which keys apply. Empty if no asset is visible. */
  readonly active = signal('');
  /** Views that always replace all open views. */
  readonly homes: ViewName[] = ['groups'];
  readonly views = signal<readonly ViewName[]>(['groups']);
  readonly view = computed<ViewName>(() => this.views.value.at(-1) ?? 'groups');
  readonly said = signal('');
  /** Whether the message warns that outputs are lost. */
  readonly isLoss = signal(false);
  /** Whether the last input was a pointer in a scrolling view. If true, the view must not scroll by itself. */
  isPointed = false;
  readonly isLost = signal(false);
  readonly refusals = signal<readonly Refusal[]>([]);
  readonly fresh = signal<readonly string[]>([]);
  readonly hasDetails = signal(false);
  readonly hasHelp = signal(false);
  readonly hasFilters = signal(false);
  readonly hasMore = signal(false);
  readonly hasNote = signal(false);
  readonly loupe = new SharedZoom();
  readonly focusWish = signal(0);

  readonly shown = computed(() => {
    this.#shown = show(this.data.value, this.outbox.own.value, this.#shown);
    return this.#shown;
  });
  readonly counts = computed(() => count(this.shown.value));
  /**
   * Filtered groups. The comparison view includes decided groups, because a pick would otherwise hide unseen takes.
   */
  readonly strips = computed(() => {
    const filter = this.view.value === 'compare' ? { ...this.filter.value, undecided: false } : this.filter.value;
    return applyFilter(this.shown.value, filter, this.offer.facets);
  });
  readonly activeAsset = computed<ReviewAsset | undefined>(() => this.shown.value.assets.get(this.active.value));
  readonly activeGroup = computed<ShownGroup | undefined>(() => this.shown.value.groupOf.get(this.active.value));
  /** Whether users must save verdicts as a file, because the page has no host or the host has stopped. */
  readonly mustLeave = computed(() => !this.data.value.canDecide || (this.isLost.value && !this.outbox.isEmpty.value));
  readonly history: History;

  readonly #host: Host | undefined;
  #shown: Shown | undefined;
  #isLoading = false;
  #isStale = false;

  constructor(data: ReviewData, host: Host | undefined, offer: Offer) {
    this.data = signal(data);
    this.offer = offer;
    this.history = new History(data);
    this.#host = host;
    this.outbox = new Outbox({
      host: data.canDecide ? host : undefined,
      kept: keptVerdicts(data),
      onRefused: (refused) => this.#takeBack(refused),
      onRecorded: (change) => this.#follow(change),
    });
    const [first] = this.strips.value;
    this.active.value = (first && firstUndecided(this.strips.value)) ?? first?.assets[0]?.address ?? '';
    // The page announces verdicts of an earlier visit, because later decisions may contradict them.
    const left = this.outbox.own.value.size;
    if (data.canDecide && left > 0) this.say(`${counted(left, 'verdict')} from your last visit: recorded now.`);
    host?.watch((news) => {
      this.isLost.value = news === 'lost';
      const { found } = connection.peek();
      connection.value = { isLost: this.isLost.value, found: news === 'found' ? found + 1 : found };
      if (news === 'found') void this.reload();
      else if (typeof news === 'object') this.#follow(news);
    });
    // If a filter hides the active asset, the asset next to its position becomes active.
    effect(() => {
      const { value: shown } = this.shown;
      const place = nearest(shown, this.strips.value, this.active.peek()) ?? '';
      if (place !== this.active.peek()) this.active.value = place;
    });
  }

  #follow(change: Change): void {
    const { revision } = this.data.value;
    if (change.revision <= revision) this.outbox.settle(revision);
    else if ('since' in change && change.since <= revision) this.#takeIn(withChange(this.data.value, change));
    else void this.reload();
  }

  async reload(): Promise<void> {
    this.#isStale = this.#isLoading;
    if (this.#host === undefined || this.#isLoading) return;
    this.#isLoading = true;
    try {
      const data = await this.#host.load();
      if (data.revision < this.data.value.revision) return;
      this.#takeIn(data);
    } catch {
      // If the load fails, the page shows its old data until the next change or reconnect, which loads the data again.
    } finally {
      this.#isLoading = false;
      if (this.#isStale) void this.reload();
    }
  }

  #takeIn(data: ReviewData): void {
    const before = this.shown.value;
    const came = newOutputs(before, data);
    const elsewhere = madeElsewhere(before, data, (address, is) => this.outbox.isUnderWay(address, is));
    batch(() => {
      const seen = new Set(this.activeGroup.value?.assets.map(({ address }) => address));
      const unseen = came.filter((address) => !seen.has(address));
      this.fresh.value = [...this.fresh.value.filter((address) => !came.includes(address)), ...unseen];
      this.data.value = data;
      this.outbox.settle(data.revision);
      for (const { text, address, members } of elsewhere) {
        this.say(text);
        const open = new Set([...members].filter((member) => this.outbox.isOpen(member)));
        if (open.size === 0) this.history.forget(members);
        else this.history.rebase(open, undoOf(show(data, new Map()), this.shown.value, address));
      }
    });
  }

  /** Makes an asset active. `takesFocus`: whether the asset gets the focus unless the user is typing into a field. */
  activate(address: string | undefined, takesFocus = true): void {
    if (address === undefined) return;
    batch(() => {
      // The message on the page was about the asset that was active before.
      if (takesFocus && address !== this.active.value) this.say('');
      this.active.value = address;
      // The user sees the whole group of an active asset.
      const seen = this.shown.value.groupOf.get(address);
      this.fresh.value = this.fresh.value.filter((one) => this.shown.value.groupOf.get(one) !== seen);
      if (takesFocus) this.focusWish.value += 1;
    });
  }

  /** Activates the first new output without a verdict. If all new outputs have one, activates the first. */
  goFresh(): void {
    const fresh = new Set(this.fresh.value);
    const strips = this.strips.value.filter(({ assets }) => assets.some(({ address }) => fresh.has(address)));
    this.activate(firstUndecided(strips) ?? this.fresh.value[0]);
  }

  goGroup(by: 1 | -1): void {
    this.activate(moveByGroup(this.strips.value, this.active.value, by));
  }

  goUndecided(by: 1 | -1): void {
    const found = moveToUndecided(this.strips.value, this.active.value, by);
    if (found === undefined) this.say('No other group is undecided.');
    this.activate(found);
  }

  open(view: ViewName): void {
    const below = this.views.value.filter((name) => name !== view);
    this.views.value = this.homes.includes(view) ? [view] : [...below, view];
    this.focusWish.value += 1;
  }

  back(): void {
    if (this.hasDetails.value && this.views.value.length === 1) this.hasDetails.value = false;
    else if (this.views.value.length > 1) this.views.value = this.views.value.slice(0, -1);
    this.focusWish.value += 1;
  }

  setFilter(change: Partial<Filter>): void {
    const { value: before } = this.active;
    this.say('');
    this.filter.value = { ...this.filter.value, ...change };
    // A search activates the first output that can have a verdict.
    const found = this.strips.value.flatMap(({ assets }) => assets).find(({ isJudged }) => isJudged);
    if (change.text && this.active.value !== before) this.activate(found?.address, false);
  }

  clearFilter(): void {
    this.filter.value = noFilter;
  }

  judge(address: string, is: Mark, { note, reason }: { note?: string; reason?: string } = {}): void {
    const before = this.shown.value;
    const { left } = this.counts.value;
    const lead = () => this.#openView?.lead?.(this, address, is);
    const asset = before.assets.get(address);
    const decision = decide(before, this.outbox.own.value, { address, is, note, reason });
    if (decision.is === 'refused') {
      // The comparison shows the picked asset and the next candidate.
      if (asset?.verdict?.is === is) this.activate(lead());
      this.say(decision.text);
      return;
    }
    batch(() => {
      this.outbox.put(decision.verdicts);
      const { value: shown } = this.shown;
      this.history.add(undoOf(before, shown, address));
      const isNote = asset?.verdict?.is === is && note !== undefined;
      const isRevised = [before, shown].every((one) => one.groupOf.get(address)?.state === 'decided');
      // If all takes were seen, the comparison goes to another group.
      const stays = this.isPointed || (isRevised && this.#openView?.lead === undefined);
      if (!isNote) this.activate(lead() ?? afterVerdict(shown, this.strips.value, address, stays ? 'undecided' : is));
      const isLast = left > 0 && this.counts.value.left === 0;
      const loss = lossText(before, shown, address);
      this.say(`${loss}${decision.text}${isLast ? ' Every group is decided.' : ''}`, loss !== '');
    });
  }

  get #openView(): View | undefined {
    return this.offer.views.find(({ name }) => name === this.view.value);
  }

  pickNth(number: number): void {
    const group = this.activeGroup.value;
    const numbers = numbersOf(group?.assets ?? []);
    const asset = group?.assets[numbers.indexOf(number)];
    if (group !== undefined && asset === undefined)
      this.say(`There is no take ${number} here: ${group.group.title ?? group.group.name} has ${listed(numbers)}.`);
    else this.judge(asset?.address ?? '', 'picked');
  }

  rejectFor(number: number): void {
    const group = this.activeGroup.value?.group;
    const { reasons = [] } = group?.gate ?? {};
    const reason = reasons[number - 1];
    if (group !== undefined && reason === undefined)
      this.say(`There is no reason ${number} here: the gate has ${counted(reasons.length, 'reason')}.`);
    else this.judge(this.active.value, 'rejected', defined({ reason }));
  }

  goBack(by: 'undo' | 'redo'): void {
    batch(() => {
      const before = this.shown.value;
      const step = this.history.goBack(by, (one) => this.#putBack(one));
      if (step === undefined) {
        this.say(`Nothing to ${by}.`);
        return;
      }
      this.activate(nearest(this.shown.value, this.strips.value, step.address));
      const { value: shown } = this.shown;
      const changed = step.verdicts.flatMap(({ address }) => shown.assets.get(address) ?? []);
      const states = changed.map((asset) => {
        const by = asset.verdict?.by;
        return `${nameOf(shown, asset.address)} is ${markOf(asset)}${by ? ` (${by})` : ''}`;
      });
      const loss = lossText(before, shown, step.address);
      this.say(`${loss}${by === 'undo' ? 'Undone' : 'Done again'}: ${listed(states)}.`, loss !== '');
    });
  }

  #putBack({ verdicts, address }: Step): Step {
    const before = this.shown.value;
    this.outbox.put(puttingBack(before, this.outbox.own.value, verdicts));
    return undoOf(before, this.shown.value, address);
  }

  /** Opens the field for a note. A note is part of a verdict, so an undecided asset cannot have a note. */
  editNote(): void {
    const asset = this.activeAsset.value;
    // The page refuses the verdict and shows the reason.
    if (asset?.isJudged === false) this.judge(asset.address, 'undecided');
    else if (asset?.verdict === undefined) this.say('Pick or reject the output first: a note is part of a verdict.');
    else this.hasNote.value = true;
  }

  keepNote(address: string, note: string): void {
    const verdict = this.shown.value.assets.get(address)?.verdict;
    if (verdict === undefined || note === (verdict.note ?? '')) return;
    this.judge(address, verdict.is, { note });
  }

  search(): void {
    this.hasFilters.value = true;
    const focus = () => document.getElementById('search')?.focus();
    // An asynchronous update would let the page handle the next typed characters as keys.
    document.querySelector('.filters')?.setAttribute('data-open', 'true');
    focus();
    requestAnimationFrame(focus);
  }

  get isForClient(): boolean {
    return this.data.value.report?.client !== undefined;
  }

  toggleDetails(): void {
    if (this.isForClient) return;
    this.hasDetails.value = !this.hasDetails.value;
  }

  toggleHelp(): void {
    this.hasHelp.value = !this.hasHelp.value;
  }

  dismissRefusals(): void {
    this.refusals.value = [];
  }

  say(text: string, isLoss = false): void {
    this.said.value = text;
    this.isLoss.value = isLoss;
  }

  copy(command: string): void {
    navigator.clipboard.writeText(command).then(
      () => this.say('Copied. Paste the command in a terminal: it asks before it spends credits.'),
      () => this.say(`Copy this command: ${command}`),
    );
  }

  unsaved(): WantedVerdict[] {
    return [...this.outbox.own.value.values()];
  }

  #takeBack(refused: readonly Refusal[]): void {
    const addresses = new Set(refused.map(({ address }) => address));
    this.history.forget(addresses);
    this.refusals.value = [...this.refusals.value.filter(({ address }) => !addresses.has(address)), ...refused];
  }
}

function lossText(before: Shown, after: Shown, address: string): string {
  const lost = givenUp(before, after, address);
  if (lost.length === 0) return '';
  const worth = sumOf(lost.map(({ credits = null }) => credits));
  const [it, names] = [lost.length === 1 ? 'it' : 'them', listed(lost.map((one) => nameOf(after, one.address)))];
  return `Gives up ${names}, bought for ${creditWords(worth)}; buying ${it} again costs ≈ ${creditWords(worth)}. `;
}
