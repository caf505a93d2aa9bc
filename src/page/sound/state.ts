import { batch, effect, signal } from '@preact/signals';
import { listed } from '../parts/words.ts';
import type { Page } from '../state/page.ts';
import { Deck } from './deck.ts';
import { isSoundGroup, type Track, tracksOf } from './tracks.ts';

const jump = 5;

/** Playback of the active group. The audible asset is always the active asset, so that a verdict applies to it. */
class Sounds {
  readonly deck = signal<Deck | undefined>(undefined);
  readonly #page: Page;
  #group: number | undefined;

  constructor(page: Page) {
    this.#page = page;
    effect(() => {
      const group = page.activeGroup.value;
      const deck = this.deck.peek();
      if (deck === undefined) return;
      if (group === undefined || group.index !== this.#group) this.#close();
      else {
        const tracks = tracksOf(group);
        if (String(tracks.map(urlOf)) !== String(deck.tracks.peek().map(urlOf))) deck.setTracks(tracks);
      }
    });
    effect(() => {
      const address = page.active.value;
      const deck = this.deck.value;
      const own = deck?.tracks.value.filter((track) => track.address === address) ?? [];
      if (own[0] !== undefined && !own.some(({ url }) => url === deck?.heard.peek())) deck?.listenTo(own[0].url);
    });
  }

  /** Opens the player of the active group, which loads the group's files. Undefined if the group has no sound. */
  open(): Deck | undefined {
    const group = this.#page.activeGroup.value;
    if (group === undefined || !isSoundGroup(group)) return undefined;
    if (this.deck.value !== undefined && this.#group === group.index) return this.deck.value;
    this.#close();
    const tracks = tracksOf(group);
    if (tracks.length === 0) return undefined;
    this.#group = group.index;
    const deck = new Deck(tracks);
    this.deck.value = deck;
    return deck;
  }

  listen(number: number): void {
    const deck = this.open();
    const track = deck?.tracks.value.find((one) => one.number === number);
    if (deck === undefined || track === undefined) {
      const numbers = deck?.tracks.value.map((one) => one.number) ?? [];
      this.#page.say(`There is no sound ${number} in this group. Sounds of the group: ${listed(numbers) || 'none'}.`);
    } else this.#playTrack(deck, track);
  }

  listenTo(address: string): void {
    this.#page.activate(address);
    const deck = this.open();
    const track = deck?.tracks.value.find((one) => one.address === address);
    if (deck !== undefined && track !== undefined) this.#playTrack(deck, track);
  }

  #playTrack(deck: Deck, track: Track): void {
    batch(() => {
      deck.listenTo(track.url);
      this.#page.activate(track.address);
    });
    if (!deck.isPlaying.value) deck.play();
  }

  toggle(): void {
    const deck = this.open();
    if (deck?.isPlaying.value) deck.pause();
    else deck?.play();
  }

  jump(by: 1 | -1): void {
    const deck = this.deck.value;
    deck?.seek(deck.position() + by * jump);
  }

  #close(): void {
    this.deck.value?.close();
    this.deck.value = undefined;
    this.#group = undefined;
  }
}

const urlOf = ({ url }: Track) => url;

const states = new WeakMap<Page, Sounds>();

export function soundsOf(page: Page): Sounds {
  const state = states.get(page) ?? new Sounds(page);
  states.set(page, state);
  return state;
}
