import { useCallback, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { ReportSpan, ReportTimeline } from '../../contract/report.ts';
import { noFilter } from '../model/filter.ts';
import { Address } from '../parts/tile.tsx';
import { useFocus } from '../parts/use-focus.ts';
import { useRows } from '../parts/use-rows.ts';
import { counted, credits } from '../parts/words.ts';
import type { LateView, Page } from '../state/page.ts';
import { type Gallery, galleryOf } from './state.ts';
import { barsOf, concurrency, lasting, lengthOf, orderSpans, rangeOf, ticksOf } from './timeline-layout.ts';

const rowHeight = 26;

/** Course of a run: a line for each job. */
export const timelineView: LateView = {
  name: 'timeline',
  Component: TimelineView,
  move(page, direction) {
    const addresses = spansOf(page).flatMap(({ asset, address }) => (asset === undefined ? [] : [address]));
    const here = addresses.indexOf(page.active.value);
    return addresses[here + (direction === 'up' || direction === 'left' ? -1 : 1)];
  },
};

/** Those that the filter lets pass; what is no more in the campaign only where nothing is filtered. */
function spansOf(page: Page): readonly ReportSpan[] {
  const { timeline } = galleryOf(page).report;
  if (timeline === undefined) return [];
  const shown = new Set(page.strips.value.flatMap(({ assets }) => assets.map(({ address }) => address)));
  const isAll = page.filter.value === noFilter;
  const spans = timeline.spans.filter(({ asset, address }) => (asset === undefined ? isAll : shown.has(address)));
  return orderSpans(spans, galleryOf(page).order.value, rangeOf(timeline).to);
}

function TimelineView({ page }: { page: Page }) {
  const { timeline } = galleryOf(page).report;
  return timeline === undefined ? null : <Timeline page={page} timeline={timeline} />;
}

function Timeline({ page, timeline }: { page: Page; timeline: ReportTimeline }) {
  const scroller = useRef<HTMLDivElement>(null);
  const strips = page.strips.value;
  const order = galleryOf(page).order.value;
  const spans = useMemo(() => spansOf(page), [strips, order]);
  const range = useMemo(() => rangeOf(timeline), [timeline]);
  const { items, height, reveal } = useRows({
    count: spans.length,
    estimate: () => rowHeight,
    keyOf: useCallback((index: number) => `${index} ${spans[index]?.address}`, [spans]),
    scroller,
  });
  useLayoutEffect(() => {
    const index = spans.findIndex(({ address }) => address === page.active.value);
    if (index >= 0) reveal(index);
  }, [page.focusWish.value, spans]);
  useFocus(page, scroller);
  return (
    <div class="timeline">
      <TimelineTools page={page} timeline={timeline} />
      <Busy spans={spans} range={range} />
      <div class="busy timeline-axis" aria-hidden="true">
        <span />
        <span class="ticks">
          {ticksOf(range.to - range.from, 6).map((time) => (
            <span key={time} style={{ left: `${(time / (range.to - range.from)) * 100}%` }}>
              {time === 0 ? '0' : lasting(time)}
            </span>
          ))}
        </span>
      </div>
      <div class="timeline-rows" ref={scroller} tabIndex={-1}>
        <ul class="all-rows" style={{ height: `${height}px` }}>
          {items.map(({ index, key, start }) => {
            const span = spans[index];
            return (
              span && (
                <li
                  key={key}
                  class={`timeline-row${span.address === page.active.value ? ' active' : ''}`}
                  style={{ transform: `translateY(${start}px)`, height: `${rowHeight}px` }}
                >
                  <Job page={page} span={span} range={range} />
                </li>
              )
            );
          })}
        </ul>
      </div>
    </div>
  );
}

function Job({ page, span, range }: { page: Page; span: ReportSpan; range: { from: number; to: number } }) {
  const { address, end } = span;
  const words = wordsOf(span, range.to);
  const inside = (
    <>
      <span class="timeline-name">
        <Address text={address} />
      </span>
      <span class={`timeline-bars ${end}`} aria-hidden="true">
        {barsOf(span, range).map(({ is, from, to }) => (
          <span key={is} class={`bar-${is}`} style={{ left: `${from * 100}%`, width: `${(to - from) * 100}%` }} />
        ))}
      </span>
      <span class="timeline-words">{words}</span>
    </>
  );
  if (span.asset === undefined) return <span class="timeline-job">{inside}</span>;
  const isActive = page.active.value === address;
  return (
    <button
      type="button"
      class="timeline-job"
      data-asset={address}
      data-address={address}
      title={words}
      tabIndex={isActive ? 0 : -1}
      aria-current={isActive}
      onFocus={() => page.activate(address, false)}
      onClick={() => (isActive && !page.hasDetails.value ? page.toggleDetails() : page.activate(address))}
    >
      {inside}
    </button>
  );
}

/** `4.2 s · 2 credits`; where it did not go well, first of all how. */
function wordsOf(span: ReportSpan, to: number): string {
  const length = lengthOf(span, to);
  const ends = { done: '', failed: 'failed', unresolved: 'nobody knows how it ended', open: 'had not ended' };
  const queued = span.sent !== undefined && span.job !== undefined ? span.job - span.sent : 0;
  return [
    span.error === undefined ? ends[span.end] : `failed: ${span.error}`,
    length === undefined ? 'not seen by this run' : lasting(length.to - length.from),
    queued >= 1000 ? `waited ${lasting(queued)}` : '',
    span.credits === undefined ? '' : credits(span.credits),
    span.asset === undefined ? 'no more in the campaign' : '',
  ]
    .filter((part) => part !== '')
    .join(' · ');
}

function TimelineTools({ page, timeline }: { page: Page; timeline: ReportTimeline }) {
  const { order } = galleryOf(page);
  const { run, started, ended, exitCode, spans } = timeline;
  const failed = spans.filter(({ end }) => end === 'failed').length;
  const facts = [
    `run ${run}`,
    new Date(started).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' }),
    ended === undefined ? 'no end on record' : lasting(ended - started),
    counted(spans.length, 'job'),
    failed > 0 ? `${failed} failed` : '',
    exitCode === undefined ? '' : `exit code ${exitCode}`,
  ];
  return (
    <div class="tools gallery-tools">
      <label>
        Order{' '}
        <select
          value={order.value}
          onChange={({ currentTarget: { value } }) => {
            order.value = value as Gallery['order']['value'];
          }}
        >
          <option value="">as they began</option>
          <option value="task">by task</option>
          <option value="longest">longest first</option>
          <option value="failed">failed first</option>
        </select>
      </label>
      <span class="quiet">{facts.filter((fact) => fact !== '').join(' · ')}</span>
      <span class="legend" aria-hidden="true">
        <i class="bar-queue" /> waits <i class="bar-run" /> runs <i class="bar-save" /> is saved{' '}
        <i class="bar-failed" /> failed
      </span>
    </div>
  );
}

/** Stretches of time in the drawing, and its height in units of its own. */
const stretches = 240;
const high = 40;

/** How many jobs were under way at each time, and when some failed. */
function Busy({ spans, range }: { spans: readonly ReportSpan[]; range: { from: number; to: number } }) {
  const counts = useMemo(() => concurrency(spans, range, stretches), [spans, range]);
  const most = Math.max(1, ...counts);
  const points = counts.map((count, index) => {
    const y = high - (count / most) * (high - 2);
    return `L${index} ${y.toFixed(1)}L${index + 1} ${y.toFixed(1)}`;
  });
  const failures = spans.flatMap((span) => {
    const length = span.end === 'failed' ? lengthOf(span, range.to) : undefined;
    return length === undefined ? [] : [((length.to - range.from) / (range.to - range.from)) * stretches];
  });
  const words = `Up to ${most} at once`;
  return (
    <div class="busy">
      <span class="timeline-name quiet">{words}</span>
      <svg viewBox={`0 0 ${stretches} ${high}`} preserveAspectRatio="none" aria-hidden="true">
        <path class="busy-area" d={`M0 ${high}${points.join('')}L${stretches} ${high}z`} />
        {failures.map((x, index) => (
          <line key={index} class="busy-failed" x1={x} x2={x} y1={0} y2={high} vector-effect="non-scaling-stroke" />
        ))}
      </svg>
    </div>
  );
}
