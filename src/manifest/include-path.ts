import { shorten } from '../ground/values.ts';
import { isAbsolutePath, normalizePath } from './file-path.ts';

/** The path of an included file, relative to the main manifest's folder; or why there is none. */
export type IncludePath = { path: string } | { message: string; hint: string };

/** Reads one entry of `include`; `folder` is that of the file that contains it. */
export function readIncludePath(written: string, folder: string): IncludePath {
  const shown = shorten(written);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(written)) {
    const message = `${shown} is a web address, and manifests are included from files only`;
    return { message, hint: 'download it into the folder of the campaign, read it, and include the file' };
  }
  if (isAbsolutePath(written) || written.startsWith('~')) {
    const message = `${shown} is not a relative path`;
    return { message, hint: 'name a file below the folder of the campaign, relative to this file' };
  }
  if (written.includes('\\')) {
    return { message: `${shown} has a backslash`, hint: `write / between folders: ${shown.replaceAll('\\', '/')}` };
  }
  if (/[*?[\]{}]/.test(written)) {
    return { message: `${shown} is a pattern, and \`include\` names files`, hint: 'write one path for each file' };
  }
  const path = normalizePath(`${folder}${written}`);
  if (path === '..' || path.startsWith('../')) {
    const message = `${shown} is outside the folder of the main manifest`;
    return { message, hint: 'move it below that folder, or run the campaign from a manifest that stands higher up' };
  }
  if (!/\.(?:ya?ml|json)$/i.test(path)) {
    return { message: `${shown} is not the path of a yaml file`, hint: 'name a file that ends in .yaml or .yml' };
  }
  return { path };
}
