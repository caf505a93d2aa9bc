import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { openWebDeck } from '../../../../src/page/sound/web-deck.ts';
import { Held, settled } from '../../../rig/held.ts';

/** A sound of one channel, which a second of silence is long enough for. */
class Sound {
  readonly numberOfChannels = 1;
  readonly sampleRate = 1000;
  readonly length = 1000;
  readonly duration = 1;
  readonly url: string;
  constructor(url: string) {
    this.url = url;
  }
  getChannelData(): Float32Array {
    return new Float32Array(this.length);
  }
}

let heard: string[];
let fetched: Held<[url: string], Response>;

/** As much of a sound card as tells which tracks were begun. */
function stubSound(): void {
  const ramp = { setValueAtTime() {}, linearRampToValueAtTime() {}, cancelScheduledValues() {}, setTargetAtTime() {} };
  const node = { connect: (to: object) => to };
  vi.stubGlobal(
    'AudioContext',
    class {
      currentTime = 0;
      destination = {};
      decodeAudioData = async (bytes: ArrayBuffer) => new Sound(new TextDecoder().decode(bytes));
      resume = async () => {};
      close = async () => {};
    },
  );
  vi.stubGlobal(
    'AudioBufferSourceNode',
    class {
      onended = null;
      readonly #sound: Sound;
      constructor(_context: object, { buffer }: { buffer: Sound }) {
        this.#sound = buffer;
      }
      connect = node.connect;
      start = () => void heard.push(this.#sound.url);
      stop() {}
    },
  );
  vi.stubGlobal(
    'GainNode',
    class {
      gain = { value: 0, ...ramp };
      connect = node.connect;
    },
  );
  vi.stubGlobal('fetch', (url: string) => fetched.call(url));
}

beforeEach(() => {
  heard = [];
  fetched = new Held();
  stubSound();
  return () => void vi.unstubAllGlobals();
});

function open() {
  const tracks = ['a', 'b'].map((url, index) => ({ url, number: index + 1, address: url, name: url }));
  const deck = openWebDeck(tracks);
  onTestFinished(() => deck.close());
  const asked = () => fetched.calls.map(({ args: [url] }) => url);
  const arrives = async (url: string) => {
    fetched.at(asked().indexOf(url)).answer(new Response(url));
    await new Promise((resolve) => setTimeout(resolve, 5));
    await settled();
  };
  return { deck, asked, arrives };
}

test('a track that arrives when another one was chosen is not heard', async () => {
  const { deck, arrives } = open();
  deck.play();
  deck.listenTo('b');
  await arrives('b');
  expect(heard).toEqual(['b']);
  await arrives('a');
  expect(heard).toEqual(['b']);
});

test('nor is one that arrives after a pause', async () => {
  const { deck, arrives } = open();
  deck.play();
  deck.pause();
  await arrives('a');
  expect(heard).toEqual([]);
});

test('a track that is measured and played at once is fetched once, and begun once when it was left and chosen again meanwhile', async () => {
  const { deck, asked, arrives } = open();
  deck.play();
  deck.listenTo('b');
  deck.listenTo('a');
  expect(asked()).toEqual(['a', 'b']);
  await arrives('a');
  expect(heard).toEqual(['a']);
});
