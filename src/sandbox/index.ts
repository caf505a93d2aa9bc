/**
 * An embeddable simulation of the media generation service: the same requests and answers, play credits, and real media
 * derived from the requests. It shares no code with the runner, so that both depend on the documented API only.
 *
 * - **Money.** `ledger()` lists all accepted create requests. An entry is booked (with `dataDir`, written to
 *   `ledger.jsonl`) before its answer is sent, so the ledger is correct even if the client received no answer.
 * - **Time.** The state of a job depends on the clock alone (`now`, `speed`); there are no timers to wait for.
 * - **Faults.** `faults` scripts resets, hangs, lost answers and truncated files; see `failRate` and `limitCreates`.
 * - **Media.** A file is rendered when it is first fetched. The same request gives the same bytes; repeating a request
 *   gives another take.
 * - **Uploads.** Signed URLs, output URLs and public URLs all refer to the sandbox. Bytes are streamed, to disk with
 *   `dataDir`. The sandbox fetches nothing from other machines.
 * - **A page** at `/` shows the current state to browsers on this machine; `/sandbox/state` has the same data as JSON.
 * - **Undocumented behaviour** of the service, which the sandbox had to choose, is marked `x-not-shown` in
 *   `/openapi.json`.
 *
 * ```ts
 * const sandbox = createSandbox({ credits: 100, speed: Infinity });
 * const { url, close } = await sandbox.listen();
 * ```
 */

export type { LedgerEntry } from './books.ts';
export { type Fault, type FaultAction, readFaults } from './faults.ts';
export type { RenderOrder } from './kinds/kind.ts';
export { findMissing } from './render/find-missing.ts';
export type { Renderer } from './renderer.ts';
export { createSandbox, type Sandbox, type SandboxOptions, type SandboxRequest } from './sandbox.ts';
export type { Listener } from './serve-http.ts';
