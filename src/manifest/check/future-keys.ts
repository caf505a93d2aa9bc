/** Keys of a task that the product knows and this version does not read yet. */
export const futureTaskKeys: readonly string[] = ['gate'];

/** What people who know other tools write for our keys, in the manifest itself and in a task. */
export const borrowedManifestKeys: Readonly<Record<string, string>> = {
  variables: 'vars',
  import: 'include',
  imports: 'include',
  extends: 'include',
  steps: 'tasks',
  jobs: 'tasks',
};

export const borrowedTaskKeys: Readonly<Record<string, string>> = {
  if: 'when',
  condition: 'when',
  retries: 'retry',
  loop: 'foreach',
  items: 'foreach',
  dependson: 'needs',
  depends: 'needs',
  params: 'with',
  request: 'with',
  output: 'save',
};

/** Keys with which people try to set the address of the service. */
const addressKeys: readonly string[] = ['url', 'baseurl', 'base', 'endpoint', 'host', 'server'];

/** Keys with which people try to set the credential. */
const credentialKeys: readonly string[] = ['key', 'apikey', 'token', 'bearer', 'authorization', 'secret', 'password'];

/** The environment variable that a key stands for, so that it can be told where the value belongs. */
export function environmentVariableFor(key: string): 'MEDIABATCH_BASE_URL' | 'MEDIABATCH_API_KEY' | undefined {
  const plain = key.toLowerCase().replaceAll(/[-_]/g, '');
  if (addressKeys.includes(plain)) return 'MEDIABATCH_BASE_URL';
  return credentialKeys.includes(plain) ? 'MEDIABATCH_API_KEY' : undefined;
}
