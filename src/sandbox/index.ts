/**
 * The media generation service, embedded: the same calls and answers, play credits, and real media made from the
 * request alone. It shares nothing with the runner, so that what the two agree on is the documented API.
 *
 * - **Money.** `ledger()` lists every accepted create. An entry is booked – with `dataDir`, written to
 *   `ledger.jsonl` – before its answer leaves, so it is the truth about what was spent, whatever the client saw.
 * - **Time.** Jobs move by the clock alone (`now`, `speed`); there are no timers to wait for.
 * - **Trouble.** `faults` scripts it: resets, hangs, lost answers, cut files. `failRate` and `rateLimit` make it.
 * - **Media.** A file is rendered when it is first fetched. The same request gives the same bytes; the same
 *   request once more is another take.
 * - **Uploads.** Signed URLs, links of answers and public URLs all lead here; bytes are streamed, with `dataDir` to disk.
 *   The sandbox fetches nothing from beyond this machine.
 * - **A page** at `/` shows what is going on, to browsers on this machine; `/sandbox/state` is the same as JSON.
 * - **What the service does not document** and the sandbox had to choose is marked `x-not-shown` in `/openapi.json`.
 *
 * ```ts
 * const sandbox = createSandbox({ credits: 100, speed: Infinity });
 * const { url, close } = await sandbox.listen();
 * ```
 */

export { type Fault, type FaultAction, readFaults } from './faults.ts';
export type { RenderOrder } from './kinds/kind.ts';
export type { LedgerEntry } from './ledger-entry.ts';
export { findMissing } from './render/find-missing.ts';
export type { Renderer } from './renderer.ts';
export { createSandbox, type Sandbox, type SandboxOptions, type SandboxRequest } from './sandbox.ts';
export type { Listener } from './serve-http.ts';
