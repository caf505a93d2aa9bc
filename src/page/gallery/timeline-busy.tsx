import { useMemo } from 'preact/hooks';
import type { ReportSpan } from '../../contract/report.ts';
import { concurrency, lengthOf } from './timeline-layout.ts';

/** Stretches of time in the drawing, and its height in units of its own. */
const stretches = 240;
const high = 40;

/** How many jobs were under way at each time, and when some failed. */
export function Busy({ spans, range }: { spans: readonly ReportSpan[]; range: { from: number; to: number } }) {
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
