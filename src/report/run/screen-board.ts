import {
  type DefaultRenderer,
  ListrDefaultRendererLogLevels as Level,
  Listr,
  ListrLogger,
  type ListrTaskWrapper,
} from 'listr2';
import type { Style } from '../style.ts';
import { FrameSpinner, ScreenOutput, ScreenRenderer, type ScreenStream } from './screen-output.ts';

export type RowEnd = 'done' | 'failed' | 'unfinished';

/** Rows on a terminal that can be changed until they are closed. */
export interface Board {
  show(id: string, text: string): void;
  close(id: string, end: RowEnd): void;
  /** Resolves when every row is there, or drawing has failed. */
  started: Promise<unknown>;
  /** Resolves when every row is closed and the last frame is written. */
  ended: Promise<unknown>;
}

export interface BoardOptions {
  stream: ScreenStream;
  style: Style;
  /** Called before each frame, ten times a second, and once at the beginning. */
  beforeFrame(): void;
}

type Wrapper = ListrTaskWrapper<unknown, typeof DefaultRenderer, typeof DefaultRenderer>;

interface Row {
  id: string;
  text: string;
  wrapper?: Wrapper;
  close?: (end: RowEnd) => void;
}

/** Each row is a listr2 task that only waits until it is closed. */
export function createBoard(ids: string[], options: BoardOptions): Board {
  const rows = new Map(ids.map((id): [string, Row] => [id, { id, text: '' }]));
  const starts: Promise<void>[] = [];
  const tasks = [...rows.values()].map((row) => {
    const { promise: closed, resolve, reject } = pendingPromise();
    const { promise: begun, resolve: begin } = pendingPromise();
    starts.push(begun);
    row.close = (end) => closeRow(row, end, { resolve, reject });
    return {
      title: ' ',
      task: (_context: unknown, wrapper: Wrapper) => {
        row.wrapper = wrapper;
        begin();
        return closed;
      },
    };
  });
  const list = new Listr<unknown, typeof ScreenRenderer, typeof ScreenRenderer>(tasks, {
    concurrent: true,
    exitOnError: false,
    registerSignalListeners: false,
    renderer: ScreenRenderer,
    rendererOptions: {
      ...colors(options.style),
      showErrorMessage: false,
      showSkipMessage: false,
      spinner: new FrameSpinner(options.beforeFrame),
      logger: new ListrLogger({ useIcons: true, toStderr: [], processOutput: new ScreenOutput(options.stream) }),
    },
    fallbackRenderer: ScreenRenderer,
  });
  const ended = list.run();
  const started = Promise.race([Promise.all(starts), ended]);
  started.then(options.beforeFrame, () => {});
  return {
    show(id, text) {
      const row = rows.get(id);
      if (row?.wrapper === undefined || row.close === undefined || row.text === text) return;
      row.text = text;
      row.wrapper.title = text === '' ? ' ' : text;
    },
    close: (id, end) => rows.get(id)?.close?.(end),
    started,
    ended,
  };
}

function closeRow(row: Row, end: RowEnd, settle: { resolve(): void; reject(error: Error): void }): void {
  delete row.close;
  switch (end) {
    case 'done':
      settle.resolve();
      return;
    case 'failed':
      settle.reject(new Error('failed'));
      return;
    case 'unfinished':
      row.wrapper?.skip();
      settle.resolve();
      return;
    default:
      end satisfies never;
  }
}

function pendingPromise(): { promise: Promise<void>; resolve(): void; reject(error: Error): void } {
  let resolve = () => {};
  let reject = (_error: Error) => {};
  const promise = new Promise<void>((resolvePromise, rejectPromise) => {
    resolve = resolvePromise;
    reject = rejectPromise;
  });
  return { promise, resolve, reject };
}

function colors(style: Style): { color: { [level in Level]?: (text: string | undefined) => string } } {
  const paint = (color: (text: string) => string) => (text: string | undefined) => color(text ?? '');
  return {
    color: {
      [Level.PENDING]: paint(style.cyan),
      [Level.COMPLETED]: paint(style.green),
      [Level.FAILED]: paint(style.red),
      [Level.SKIPPED_WITH_COLLAPSE]: paint(style.yellow),
      [Level.SKIPPED_WITHOUT_COLLAPSE]: paint(style.yellow),
      [Level.WAITING]: paint(style.dim),
    },
  };
}
