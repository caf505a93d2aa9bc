import type { Place } from '../diagnostic.ts';
import { findReferences, fingerprintStep, replaceReferences } from './fingerprint.ts';
import type { FileFact, OpenRequest, Step } from './graph.ts';
import type { RenderedStep } from './render-step.ts';
import { uploadTask } from './uploads.ts';

/** An upload that a template makes on the spot. */
export interface MadeUpload {
  address: string;
  file: FileFact & { path: string };
  place: Place;
}

/** A step with its fingerprint. `fingerprintOf` knows every step before it. */
export function finishStep(
  rendered: RenderedStep,
  from: {
    fingerprintOf: (address: string) => string;
    /** Of its task. */
    place: Place;
  },
): Step {
  const { draft, save, file, unchecked } = rendered;
  const { task, take, part } = draft;
  const kind = task.kind ?? '';
  const request: OpenRequest = { ...rendered.request };
  const references = findReferences(request);
  const referred = references.length === 0 ? request : replaceReferences(request, from.fingerprintOf);
  const paidRequest = withDigest(referred, file);
  const taken = take === undefined ? {} : { take };
  return {
    address: draft.address,
    task: task.id,
    kind,
    ...(draft.key === undefined ? {} : { key: draft.key }),
    matrix: draft.matrix,
    ...taken,
    request,
    paidRequest,
    fingerprint: fingerprintStep({ kind, paidRequest, ...taken }),
    needs: [...new Set([...references, ...rendered.needs, ...(part === undefined ? [] : [part.of])])].sort(),
    save,
    ...(file !== undefined && { file }),
    ...(part !== undefined && { part: { ...part, fingerprint: from.fingerprintOf(part.of) } }),
    ...(task.timeoutMs !== undefined && { timeoutMs: task.timeoutMs }),
    ...(task.retry !== undefined && { retry: task.retry }),
    ...(task.expect !== undefined && { expect: task.expect }),
    ...(task.pin === true && { pin: true as const }),
    ...(unchecked === true && { unchecked }),
    tags: task.tags,
    place: from.place,
    trail: draft.trail,
  };
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
    trail: [`upload of ${file.path}`],
  };
}

/** What is paid for is the file's bytes, not its name. */
function withDigest(request: OpenRequest, file: FileFact | undefined): OpenRequest {
  return file === undefined ? request : { ...request, file: { $sha256: file.sha256 } };
}
