import type { ClusterSettings } from './run-record.ts';

/** Time-outs of a service that several runs share: of each the longest of the runs so far. They never shrink. */
export class RunLimits {
  createTimeoutMs = 0;
  requestTimeoutMs = 0;
  patienceMs = 0;

  take(settings: ClusterSettings): void {
    const { createTimeoutMs, requestTimeoutMs, patienceMs = Number.POSITIVE_INFINITY } = settings;
    this.createTimeoutMs = Math.max(this.createTimeoutMs, createTimeoutMs);
    this.requestTimeoutMs = Math.max(this.requestTimeoutMs, requestTimeoutMs);
    this.patienceMs = Math.max(this.patienceMs, patienceMs);
  }
}
