import { batch, computed, effect, signal } from '@preact/signals';
import type { FunctionComponent } from 'preact';
import type { ReviewAsset, ReviewData, WantedVerdict } from '../../contract/review.ts';
import { madeElsewhere, newOutputs } from '../model/elsewhere.ts';
import { applyFilter, type Facet, type Filter, noFilter } from '../model/filter.ts';
import { decide, givenUp, plainNote, puttingBack, type Step, undoOf } from '../model/judge.ts';
import { afterVerdict, type Direction, firstUndecided, moveByGroup, moveToUndecided, nearest } from '../model/moves.ts';
import { count, type Mark, numbersOf, type Shown, type ShownGroup, show, withChange } from '../model/shown.ts';
import { connection } from '../parts/media.tsx';
import { counted, credits as creditWords, listed } from '../parts/words.ts';
import type { Press } from '../press.ts';
import { LoupeZoom } from '../zoom/loupe-zoom.ts';
import { History } from './history.ts';
import type { Change, Host } from './host.ts';
import { keptVerdicts, Outbox, type Refusal } from './outbox.ts';
import { readRemarks, remarkOn, setRemark } from './remarks.ts';

export type ViewName = 'groups' | 'loupe' | 'compare' | 'matrix' | 'grid' | 'changes';

/** One way of looking at the campaign. A view shows `page.strips`, and outlines `page.active`. */
export interface View {
  name: ViewName;
  /** On its button. */
  label: string;
  /** It shows what is active in another size, rather than something else: its button stands apart. */
  size?: true;
  /** Opens it: `Press.key`. */
  key?: string;
  /** False: it has nothing to show, and no button. */
  isOffered?(data: ReviewData): boolean;
  Component: FunctionComponent<{ page: Page }>;
  /** The address to which an arrow leads; undefined: it stays. */
  move(page: Page, direction: Direction): string | undefined;
  /** Where a verdict leads that was given in this view; undefined: where it leads everywhere. */
  lead?(page: Page, address: string, is: Mark): string | undefined;
  /** Is asked before the page acts on a key. True: it was for the view. */
  onKey?(page: Page, press: Press): boolean;
}

/** One that is loaded later: its button and its key stand in its place before. */
export type LateView = Omit<View, 'label' | 'key' | 'isOffered'>;

export type KeyHelp = readonly [keys: string, what: string];

/** Views and filters, in the order in which they are shown. A gallery has more than the review page. */
export interface Offer {
  readonly views: readonly View[];
  readonly facets: readonly Facet[];
}

/** Parts of the page that the first picture does not need. */
export interface Later {
  readonly views: readonly LateView[];
  readonly Details: FunctionComponent<{ page: Page }>;
  readonly Help: FunctionComponent<{ page: Page }>;
  /** Texts of the help, by where keys act. */
  readonly help: readonly { where: string; keys: readonly KeyHelp[] }[];
  /** In the details of a gallery, instead of the names of steps that an asset is made from and used by. */
  readonly Surroundings?: FunctionComponent<{ page: Page; asset: ReviewAsset }>;
  /** Shows the other one of the two that are compared. */
  blink(page: Page): void;
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
  /** Undefined until it is loaded. */
  readonly later = signal<Later | undefined>(undefined);
  /** The last act, for the line of status and for screen readers. */
  readonly said = signal('');
  /** Nobody answers at the page's address. */
  readonly isLost = signal(false);
  /** Somebody answers there who does not know this page: mediabatch was started again. */
  readonly isStrange = signal(false);
  /** The last verdict, and how many there were. */
  readonly judged = signal<{ is: Mark; count: number }>({ is: 'undecided', count: 0 });
  readonly refusals = signal<readonly Refusal[]>([]);
  /** Addresses of outputs that came while the page was open, and that nobody has gone to yet. */
  readonly fresh = signal<readonly string[]>([]);
  readonly hasDetails = signal(false);
  readonly hasHelp = signal(false);
  /** Filters are shown when they are asked for. */
  readonly hasFilters = signal(false);
  /** Where there is little room, all buttons are shown when they are asked for. */
  readonly hasMore = signal(false);
  /** The field for the note of the active asset is open. */
  readonly hasNote = signal(false);
  readonly loupe = new LoupeZoom();
  /** Tiles side by side in the view that is open, for arrows up and down. */
  columns = 1;
  /** Grows with each wish for the keyboard to be where the active asset is. */
  readonly focusWish = signal(0);

  readonly shown = computed(() => {
    this.#shown = show(this.data.value, this.outbox.own.value, this.#shown);
    return this.#shown;
  });
  readonly counts = computed(() => count(this.shown.value));
  readonly strips = computed(() => applyFilter(this.shown.value, this.filter.value, this.offer.facets));
  readonly activeAsset = computed<ReviewAsset | undefined>(() => this.shown.value.assets.get(this.active.value));
  readonly activeGroup = computed<ShownGroup | undefined>(() => this.shown.value.groupOf.get(this.active.value));
  /** Verdicts are here that nobody will ask for: there is no host, or it has gone. */
  readonly mustLeave = computed(() => !this.data.value.canDecide || (this.isLost.value && !this.outbox.isEmpty.value));
  readonly history: History;

  readonly #host: Host | undefined;
  #shown: Shown | undefined;
  #isLoading = false;
  /** Something changed while the data were loading. */
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
    readRemarks(data);
    const [first] = this.strips.value;
    this.active.value = (first && firstUndecided(this.strips.value)) ?? first?.assets[0]?.address ?? '';
    // They may be old: the reviewer must see them return, since a later decision may contradict them.
    const left = this.outbox.own.value.size;
    if (data.canDecide && left > 0) this.say(`${counted(left, 'verdict')} of an earlier visit recorded now.`);
    host?.watch((news) => {
      this.isLost.value = news === 'lost' || news === 'strange';
      this.isStrange.value = news === 'strange';
      const { found } = connection.peek();
      connection.value = { isLost: this.isLost.value, found: news === 'found' ? found + 1 : found };
      if (news === 'found') void this.reload();
      else if (typeof news === 'object') this.#follow(news);
    });
    // What is active stays active while it is shown; its place decides when it is not.
    effect(() => {
      const { value: shown } = this.shown;
      const place = nearest(shown, this.strips.value, this.active.peek()) ?? '';
      if (place !== this.active.peek()) this.active.value = place;
    });
  }

  /** Lays a change over what is shown; where one before it was missed, everything is asked for. */
  #follow(change: Change): void {
    const { revision } = this.data.value;
    if (change.revision <= revision) this.outbox.settle(revision);
    else if ('since' in change && change.since <= revision) this.#takeIn(withChange(this.data.value, change));
    else void this.reload();
  }

  /** Asks for the data as they are now; what was not recorded stays on top of them. */
  async reload(): Promise<void> {
    this.#isStale = this.#isLoading;
    if (this.#host === undefined || this.#isLoading) return;
    this.#isLoading = true;
    try {
      const data = await this.#host.load();
      if (data.revision < this.data.value.revision) return;
      this.#takeIn(data);
    } catch {
      // The page stays as it is; the next change, or the connection that comes back, asks again.
    } finally {
      this.#isLoading = false;
      if (this.#isStale) void this.reload();
    }
  }

  /** Shows newer data. What others decided is said, and what was decided here in ignorance of it gives it back when it is undone. */
  #takeIn(data: ReviewData): void {
    const before = this.shown.value;
    const came = newOutputs(before.data, data);
    batch(() => {
      this.fresh.value = [...this.fresh.value.filter((address) => !came.includes(address)), ...came];
      this.data.value = data;
      this.outbox.settle(data.revision);
      const isUnderWay = (address: string, is: Mark) => this.outbox.isUnderWay(address, is);
      for (const { text, address, members } of madeElsewhere(before, data, isUnderWay)) {
        this.say(text);
        const open = new Set([...members].filter((member) => this.outbox.isOpen(member)));
        if (open.size === 0) this.history.forget(members);
        else this.history.rebase(open, undoOf(show(data, new Map()), this.shown.value, address));
      }
    });
  }

  /** Makes an asset the active one. `takesFocus`: the keyboard follows, unless somebody types into a field. */
  activate(address: string | undefined, takesFocus = true): void {
    if (address === undefined) return;
    batch(() => {
      // What was said is about what was active.
      if (takesFocus && address !== this.active.value) this.say('');
      this.active.value = address;
      this.fresh.value = this.fresh.value.filter((one) => one !== address);
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
  judge(address: string, is: Mark, { note, reason }: { note?: string; reason?: string } = {}): void {
    const before = this.shown.value;
    const lead = () => this.#openView?.lead?.(this, address, is);
    const asset = before.assets.get(address);
    const kept = is === 'undecided' || asset === undefined ? undefined : remarkOn(asset).note;
    const decision = decide(before, this.outbox.own.value, { address, is, note: note ?? kept, reason });
    if (decision.is === 'refused') {
      // What is picked stands against the next one.
      if (asset?.verdict?.is === is) this.activate(lead());
      this.say(decision.text);
      return;
    }
    batch(() => {
      this.outbox.put(decision.verdicts);
      const { value: shown } = this.shown;
      this.history.add({ ...undoOf(before, shown, address), remark: asset && remarkOn(asset) });
      if (asset !== undefined && is !== 'undecided') setRemark(asset, {});
      this.judged.value = { is, count: this.judged.value.count + 1 };
      const isNote = asset?.verdict?.is === is && note !== undefined;
      if (!isNote) this.activate(lead() ?? afterVerdict(shown, this.strips.value, address, is));
      const lost = givenUp(before, shown, address);
      const worth = lost.reduce<number | null>(
        (sum, { credits }) => (sum === null || credits == null ? null : sum + credits),
        0,
      );
      const names = lost.map((one) => one.address).join(', ');
      this.say(lost.length === 0 ? decision.text : `${decision.text} Gives up ${names}, ${creditWords(worth)}.`);
    });
  }

  get #openView(): View | undefined {
    return this.offer.views.find(({ name }) => name === this.view.value);
  }

  /** Picks the asset with this number in the active group. */
  pickNth(number: number): void {
    const group = this.activeGroup.value;
    const numbers = numbersOf(group?.assets ?? []);
    const asset = group?.assets[numbers.indexOf(number)];
    if (asset === undefined)
      this.say(`There is no ${number} here: ${group?.group.name ?? 'the group'} has ${listed(numbers)}.`);
    else this.judge(asset.address, 'picked');
  }

  /** Rejects the active asset for the reason with this number, of those that the manifest names. */
  rejectFor(number: number): void {
    const { reasons = [] } = this.activeGroup.value?.group.gate ?? {};
    const reason = reasons[number - 1];
    if (reason === undefined) this.say(`There is no reason ${number} here: the gate has ${reasons.length || 'none'}.`);
    else this.judge(this.active.value, 'rejected', { reason });
  }

  /** Takes the last verdict back, or gives the one again that was taken back last, and leads to what it was about. */
  goBack(by: 'undo' | 'redo'): void {
    batch(() => {
      const step = this.history.goBack(by, (one) => this.#putBack(one));
      if (step === undefined) {
        this.say(`Nothing to ${by}.`);
        return;
      }
      this.activate(nearest(this.shown.value, this.strips.value, step.address));
      const is = this.shown.value.assets.get(step.address)?.verdict?.is ?? 'undecided';
      this.say(`${by === 'undo' ? 'Undone' : 'Done again'}: ${step.address} is ${is}.`);
    });
  }

  #putBack({ verdicts, address, remark }: Step): Step {
    const before = this.shown.value;
    const asset = before.assets.get(address);
    const known = asset && remarkOn(asset);
    this.outbox.put(puttingBack(before, this.outbox.own.value, verdicts));
    if (asset !== undefined && remark !== undefined) setRemark(asset, remark);
    return { ...undoOf(before, this.shown.value, address), remark: known };
  }

  editNote(): void {
    if (this.activeAsset.value?.isJudged !== true) this.say('There is nothing to note here: nothing is to be decided.');
    else this.hasNote.value = true;
  }

  /** Keeps a note: with the verdict, or until there is one. */
  keepNote(asset: ReviewAsset, note: string): void {
    if (asset.verdict !== undefined) {
      this.judge(asset.address, asset.verdict.is, { note });
      return;
    }
    const plain = plainNote(note);
    setRemark(asset, { ...remarkOn(asset), note: plain });
    this.say(
      plain === '' ? `No note on ${asset.address}.` : `Noted on ${asset.address}, and kept with its verdict: ${plain}`,
    );
  }

  /** Marks the active one as the second choice, or no more. */
  toggleSecond(): void {
    const asset = this.activeAsset.value;
    if (asset?.isJudged !== true) return;
    const { note, isSecond } = remarkOn(asset);
    setRemark(asset, { ...(note !== undefined && { note }), isSecond: isSecond !== true });
    this.say(`${asset.address} is ${isSecond ? 'no more a' : 'a'} second choice.`);
  }

  search(): void {
    this.hasFilters.value = true;
    const focus = () => document.getElementById('search')?.focus();
    // At once, because what is typed next would be taken for keys.
    document.querySelector('.filters')?.setAttribute('data-open', 'true');
    focus();
    requestAnimationFrame(focus);
  }

  /** Prices, requests and commands are not shown. */
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

  say(text: string): void {
    this.said.value = text;
  }

  /** All verdicts that are only here, in the order in which they were given. */
  unsaved(): WantedVerdict[] {
    return [...this.outbox.own.value.values()];
  }

  #takeBack(refused: readonly Refusal[]): void {
    const addresses = new Set(refused.map(({ address }) => address));
    this.history.forget(addresses);
    this.refusals.value = [...this.refusals.value.filter(({ address }) => !addresses.has(address)), ...refused];
  }
}
