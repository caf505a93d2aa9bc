/**
 * The library: text becomes a graph, graph and lock become a plan, and a plan is carried out through ports.
 * `createService`, `createOutputs`, `openLockFile` and `createRequestBodies` are the ports of this machine; `LocalLedger` and
 * `drive` carry a plan out with them, as the command line does.
 */

export type { CreateAnswer, CreatedJob, Download, DownloadAnswer, JobEnd } from './contract/answer.ts';
export type { Clock } from './contract/clock.ts';
export { systemClock } from './contract/clock.ts';
export type { RunEvent, StepOutcome, StopReason } from './contract/event.ts';
export type { Begin, Ledger, Outputs, Ports, Service, StepResult } from './contract/ports.ts';
export type { KeptDurations, LockFile, RequestBodies } from './contract/state.ts';
export { openLockFile, readLockBytes } from './disk/lock/lock-file.ts';
export { type Digest, digestOf } from './disk/outputs/hash-file.ts';
export { createOutputs } from './disk/outputs/outputs.ts';
export { SavedFiles } from './disk/outputs/saved-files.ts';
export { createRequestBodies } from './disk/state/request-bodies.ts';
export { type DriveOptions, type DriveResult, drive } from './engine/drive.ts';
export { LocalLedger } from './engine/local-ledger.ts';
export { buildGraph } from './graph/build.ts';
export type { Graph, OpenRequest, Reference, ReferenceText, Step } from './graph/graph.ts';
export type { Diagnostic, DiagnosticCode, Place, Position } from './ground/diagnostic.ts';
export { codes } from './ground/diagnostic.ts';
export { canonicalJson, type Json } from './ground/json.ts';
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
export { runStep, type Slot } from './run/step.ts';
export type { StepEnd } from './run/step-end.ts';
export { Durations } from './service/polling/durations.ts';
export { createService, type ServiceOptions } from './service/service.ts';
