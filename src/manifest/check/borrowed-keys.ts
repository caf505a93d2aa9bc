/** Names from other tools for our keys, in the manifest itself and in a task. */
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

/** Keys with which people try to set the service's address. */
const addressKeys: readonly string[] = ['url', 'baseurl', 'base', 'endpoint', 'host', 'server'];

/** Keys with which people try to set the credential. */
const credentialKeys: readonly string[] = ['key', 'apikey', 'token', 'bearer', 'authorization', 'secret', 'password'];

/** Returns the environment variable that a key stands for, so that a message can say where the value belongs. */
export function environmentVariableFor(key: string): 'MEDIABATCH_BASE_URL' | 'MEDIABATCH_API_KEY' | undefined {
  const plain = key.toLowerCase().replaceAll(/[-_]/g, '');
  if (addressKeys.includes(plain)) return 'MEDIABATCH_BASE_URL';
  return credentialKeys.includes(plain) ? 'MEDIABATCH_API_KEY' : undefined;
}
