import type { Place } from '../../ground/diagnostic.ts';
import { dropDefaults } from '../../kinds/drop-defaults.ts';
import { kinds } from '../../kinds/index.ts';
import type { FileFact, OpenRequest, Step } from '../graph.ts';
import { uploadTask } from '../uploads.ts';
import { findReferences, fingerprintStep, replaceReferences } from './fingerprint.ts';
import type { RenderedStep } from './render-step.ts';

/** Shared by most steps, and frozen. */
const none = Object.freeze([]) as unknown as string[];

/** An upload that a template makes in place. */
export interface MadeUpload {
  address: string;
  file: FileFact & { path: string };
  place: Place;
}

/** Adds the fingerprint to a step. `fingerprintOf` knows every step before it. */
export function finishStep(
  rendered: RenderedStep,
  from: {
    fingerprintOf: (address: string) => string;
    /** The place of its task. */
    place: Place;
  },
): Step {
  const { draft, save, file, unchecked } = rendered;
  const { task, take, part } = draft;
  const kind = task.kind ?? '';
  const request: OpenRequest = { ...dropDefaults(kinds[kind], rendered.request) };
  const references = findReferences(request);
  const referred = references.length === 0 ? request : replaceReferences(request, from.fingerprintOf);
  const paidRequest = withDigest(referred, file);
  const covered = { kind, paidRequest, take };
  const needs = [...references, ...rendered.needs, ...(part === undefined ? [] : [part.of])];
  // Rare fields are added afterwards, because an object reserves room for every property of its literal.
  const step: Step = {
    address: draft.address,
    task: task.id,
    kind,
    matrix: draft.matrix,
    request,
    paidRequest,
    fingerprint: fingerprintStep(covered),
    needs: needs.length === 0 ? none : [...new Set(needs)].sort(),
    save,
    tags: task.tags,
    place: from.place,
    ...(draft.key !== undefined && { key: draft.key }),
    ...(draft.row !== undefined && { row: draft.row.label }),
  };
  if (take !== undefined) step.take = take;
  if (file !== undefined) step.file = file;
  if (part !== undefined) step.part = { ...part, fingerprint: from.fingerprintOf(part.of) };
  if (task.timeoutMs !== undefined) step.timeoutMs = task.timeoutMs;
  if (task.retry !== undefined) step.retry = task.retry;
  if (task.expect !== undefined) step.expect = task.expect;
  if (task.pin === true) step.pin = true;
  if (unchecked === true) step.unchecked = unchecked;
  return step;
}

export function uploadStep({ address, file, place }: MadeUpload): Step {
  const request = { file: file.path };
  const paidRequest = withDigest(request, file);
  return {
    address,
    task: uploadTask,
    kind: 'upload',
    key: address.slice(uploadTask.length + 1),
    matrix: {},
    request,
    paidRequest,
    fingerprint: fingerprintStep({ kind: 'upload', paidRequest }),
    needs: [],
    save: '',
    file,
    tags: [],
    place,
  };
}

/** Replaces the file's name by its bytes, which are what is paid for. */
function withDigest(request: OpenRequest, file: FileFact | undefined): OpenRequest {
  return file === undefined ? request : { ...request, file: { $sha256: file.sha256 } };
}
