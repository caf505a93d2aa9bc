import { batch, computed, effect, signal } from '@preact/signals';
import type { FunctionComponent } from 'preact';
import type { ReviewAsset, ReviewData, WantedVerdict } from '../../contract/review.ts';
import { applyFilter, type Facet, type Filter, noFilter } from '../model/filter.ts';
import { decide, type Step, undoOf } from '../model/judge.ts';
import { afterVerdict, type Direction, moveByGroup, moveToUndecided, nearest } from '../model/moves.ts';
import { count, type Mark, type ShownGroup, show } from '../model/shown.ts';
import { counted } from '../parts/words.ts';
import { LoupeZoom } from '../zoom/loupe-zoom.ts';
import type { Host } from './host.ts';
import { keptVerdicts } from './kept.ts';
import { Outbox, type Refusal } from './outbox.ts';

export type ViewName =
  | 'groups'
  | 'survey'
  | 'loupe'
  | 'compare'
  | 'matrix'
  | 'grid'
  | 'changes'
  | 'alike'
  | 'timeline'
  | 'cost'
  | 'graph';

/** One way of looking at the campaign. A view shows `page.strips`, and outlines `page.active`. */
export interface View {
  name: ViewName;
  /** On its button. */
  label: string;
  /** Opens it: what `KeyboardEvent.key` is, in small letters. */
  key?: string;
  Component: FunctionComponent<{ page: Page }>;
  /** The address to which an arrow leads; undefined: it stays. */
  move(page: Page, direction: Direction): string | undefined;
  /** Is asked before the page acts on a key. True: it was for the view. */
  onKey?(page: Page, event: KeyboardEvent): boolean;
}

/** Keys and what they do, for the help of the page. */
export type KeyHelp = readonly [keys: string, what: string];

/** Views, filters and keys, in the order in which they are shown. A gallery has more than the review page. */
export interface Offer {
  readonly views: readonly View[];
  readonly facets: readonly Facet[];
  readonly keyHelp: readonly { where: string; keys: readonly KeyHelp[] }[];
}

/** The state of the page, and everything that a key or a button does. */
export class Page {
  readonly data;
  /** Set before the page is shown. */
  offer: Offer;
  readonly outbox: Outbox;
  readonly filter = signal<Filter>(noFilter);
  /** The address of the one asset on which keys act; empty: nothing is shown. */
  readonly active = signal('');
  /** Views of everything, which lie above no other. */
  readonly homes: ViewName[] = ['groups'];
  /** The views that are open, the uppermost last: Esc leads back. */
  readonly views = signal<readonly ViewName[]>(['groups']);
  readonly view = computed<ViewName>(() => this.views.value.at(-1) ?? 'groups');
  /** In the details of a gallery, instead of the names of steps that an asset is made from and used by. */
  Surroundings?: FunctionComponent<{ page: Page; asset: ReviewAsset }>;
  /** The last act, for the line of status and for screen readers. */
  readonly said = signal('');
  /** Nobody answers at the page's address. */
  readonly isLost = signal(false);
  readonly refusals = signal<readonly Refusal[]>([]);
  readonly hasDetails = signal(false);
  readonly hasHelp = signal(false);
  /** Where there is little room, filters are shown only when they are asked for. */
  readonly hasFilters = signal(false);
  /** The field for the note of the active asset is open. */
  readonly hasNote = signal(false);
  readonly loupe = new LoupeZoom();
  /** Tiles side by side in the view that is open, for arrows up and down. */
  columns = 1;
  /** Grows with each wish for the keyboard to be where the active asset is. */
  readonly focusWish = signal(0);

  readonly shown = computed(() => show(this.data.value, this.outbox.own.value));
  readonly counts = computed(() => count(this.shown.value));
  readonly strips = computed(() => applyFilter(this.shown.value, this.filter.value, this.offer.facets));
  readonly activeAsset = computed<ReviewAsset | undefined>(() => this.shown.value.assets.get(this.active.value));
  readonly activeGroup = computed<ShownGroup | undefined>(() => this.shown.value.groupOf.get(this.active.value));
  /** Verdicts are here that nobody will ask for: there is no host, or it has gone. */
  readonly mustLeave = computed(() => !this.data.value.canDecide || (this.isLost.value && !this.outbox.isEmpty.value));
  readonly canUndo = computed(() => this.#undo.value.length > 0);

  readonly #undo = signal<readonly Step[]>([]);
  readonly #host: Host | undefined;
  #isLoading = false;
  /** Something changed while the data were loading. */
  #isStale = false;

  constructor(data: ReviewData, host: Host | undefined, offer: Offer) {
    this.data = signal(data);
    this.offer = offer;
    this.#host = host;
    this.outbox = new Outbox({
      host: data.canDecide ? host : undefined,
      kept: keptVerdicts(data),
      onRefused: (refused) => this.#takeBack(refused),
      onRecorded: () => void this.reload(),
    });
    this.active.value = this.strips.value[0]?.assets[0]?.address ?? '';
    // They may be from long ago: whoever has decided otherwise since must see that they come back.
    const left = this.outbox.own.value.size;
    if (data.canDecide && left > 0) this.say(`${counted(left, 'verdict')} of an earlier visit recorded now.`);
    host?.watch((revision) => {
      this.isLost.value = revision === 'lost';
      if (revision === 'found' || (revision !== 'lost' && revision > this.data.value.revision)) void this.reload();
    });
    // What is active stays active while it is shown; its place decides when it is not.
    effect(() => {
      const { value: shown } = this.shown;
      const place = nearest(shown, this.strips.value, this.active.peek()) ?? '';
      if (place !== this.active.peek()) this.active.value = place;
    });
  }

  /** Asks for the data as they are now; what was not recorded stays on top of them. */
  async reload(): Promise<void> {
    this.#isStale = this.#isLoading;
    if (this.#host === undefined || this.#isLoading) return;
    this.#isLoading = true;
    try {
      const data = await this.#host.load();
      if (data.revision < this.data.value.revision) return;
      batch(() => {
        this.data.value = data;
        this.outbox.settle(data.revision);
      });
    } catch {
      // The page stays as it is; the next change, or the connection that comes back, asks again.
    } finally {
      this.#isLoading = false;
      if (this.#isStale) void this.reload();
    }
  }

  /** Makes an asset the active one. `takesFocus`: the keyboard follows, unless somebody types into a field. */
  activate(address: string | undefined, takesFocus = true): void {
    if (address === undefined) return;
    batch(() => {
      this.active.value = address;
      if (takesFocus) this.focusWish.value += 1;
    });
  }

  goGroup(by: 1 | -1): void {
    this.activate(moveByGroup(this.strips.value, this.active.value, by));
  }

  goUndecided(by: 1 | -1): void {
    const found = moveToUndecided(this.strips.value, this.active.value, by);
    if (found === undefined) this.say('Nothing else here is undecided.');
    this.activate(found);
  }

  /** Opens a view above the one that is open; a view of everything closes the others. */
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
    this.filter.value = { ...this.filter.value, ...change };
  }

  clearFilter(): void {
    this.filter.value = noFilter;
  }

  /** Gives a verdict on one asset and goes on to what is to be seen next. */
  judge(address: string, is: Mark, note?: string): void {
    const before = this.shown.value;
    const decision = decide(before, this.outbox.own.value, { address, is, note });
    if (decision.is === 'refused') {
      this.say(decision.text);
      return;
    }
    batch(() => {
      this.outbox.put(decision.verdicts);
      const { value: shown } = this.shown;
      this.#undo.value = [...this.#undo.value, undoOf(before, shown, address)];
      const isNote = before.assets.get(address)?.verdict?.is === is && note !== undefined;
      if (!isNote) this.activate(afterVerdict(shown, this.strips.value, address, is));
      this.say(decision.text);
    });
  }

  /** Picks the asset with this number in the active group, counted from 1. */
  pickNth(number: number): void {
    const group = this.activeGroup.value;
    const asset = group?.assets[number - 1];
    if (asset === undefined)
      this.say(`There is no ${number} here: ${group?.group.name ?? 'the group'} has ${group?.assets.length ?? 0}.`);
    else this.judge(asset.address, 'picked');
  }

  /** Takes the last verdict back, and leads to what it was about. */
  undo(): void {
    const step = this.#undo.value.at(-1);
    if (step === undefined) {
      this.say('Nothing to undo.');
      return;
    }
    batch(() => {
      this.#undo.value = this.#undo.value.slice(0, -1);
      this.outbox.put(step.verdicts);
      this.activate(nearest(this.shown.value, this.strips.value, step.address));
      this.say(`Undone: ${step.address} is ${this.shown.value.assets.get(step.address)?.verdict?.is ?? 'undecided'}.`);
    });
  }

  editNote(): void {
    if (this.activeAsset.value?.verdict === undefined)
      this.say('A note belongs to a verdict: pick or reject it first.');
    else this.hasNote.value = true;
  }

  search(): void {
    this.hasFilters.value = true;
    const focus = () => document.getElementById('search')?.focus();
    // At once, because what is typed next would be taken for keys; where there is little room the field is shown after this.
    focus();
    requestAnimationFrame(focus);
  }

  toggleDetails(): void {
    this.hasDetails.value = !this.hasDetails.value;
  }

  toggleHelp(): void {
    this.hasHelp.value = !this.hasHelp.value;
  }

  dismissRefusals(): void {
    this.refusals.value = [];
  }

  say(text: string): void {
    this.said.value = text;
  }

  /** All verdicts that are only here, in the order in which they were given. */
  unsaved(): WantedVerdict[] {
    return [...this.outbox.own.value.values()];
  }

  #takeBack(refused: readonly Refusal[]): void {
    const addresses = new Set(refused.map(({ address }) => address));
    this.#undo.value = this.#undo.value.filter((step) => !addresses.has(step.address));
    this.refusals.value = [...this.refusals.value.filter(({ address }) => !addresses.has(address)), ...refused];
  }
}
