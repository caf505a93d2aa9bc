/**
 * The library: text becomes a graph, graph and lock become a plan, and a plan is carried out through ports.
 * `createService`, `createOutputs`, `openLockFile` and `createKeptBodies` are the ports of this machine; `LocalLedger` and
 * `drive` carry a plan out with them, as the command line does.
 */
export type { Diagnostic, DiagnosticCode, Place, Position } from './diagnostic.ts';
export { codes } from './diagnostic.ts';
export { type Digest, digestOf } from './disk/hash-file.ts';
export { createKeptBodies, type KeptBodies } from './disk/kept-bodies.ts';
export type { KeptDurations } from './disk/kept-durations.ts';
export { type LockFile, openLockFile, readLockBytes } from './disk/lock-file.ts';
export { createOutputs } from './disk/outputs.ts';
export { SavedFiles } from './disk/saved-files.ts';
export { type DriveOptions, type DriveResult, drive } from './engine/drive.ts';
export { LocalLedger } from './engine/local-ledger.ts';
export { buildGraph } from './graph/build.ts';
export type { Graph, OpenRequest, Reference, ReferenceText, Step } from './graph/graph.ts';
export { canonicalJson, type Json } from './json.ts';
export { kinds } from './kinds/index.ts';
export type { Kind } from './kinds/kind.ts';
export { joinLocks, joinRecords } from './lock/join.ts';
export { type LockReading, readLock } from './lock/read.ts';
export type { Lock, LockLine, Output, Purchase, StepRecord } from './lock/record.ts';
export { emptyLock, writeHeader, writeLines, writeLock } from './lock/write.ts';
export { type DataFile, dataFiles, parseManifest } from './manifest/parse.ts';
export { assemblePlan, outputsToCheck, type PlanFacts } from './plan/assemble.ts';
export type { Action, Plan, PlanRow, PlanTotals, PostTarget, Price, StepOrder } from './plan/plan.ts';
export { allowPosts, withholdPosts } from './plan/post-consent.ts';
export { systemClock } from './run/clock.ts';
export type { RunEvent, StepOutcome, StopReason } from './run/event.ts';
export type { Begin, Clock, Ledger, Outputs, Ports, Service, StepResult } from './run/ports.ts';
export { runStep, type Slot } from './run/step.ts';
export type { StepEnd } from './run/step-end.ts';
export type { CreateAnswer, CreatedJob, Download, DownloadAnswer, JobEnd } from './service/answer.ts';
export { Durations } from './service/polling/durations.ts';
export { createService, type ServiceClient, type ServiceOptions } from './service/service.ts';
